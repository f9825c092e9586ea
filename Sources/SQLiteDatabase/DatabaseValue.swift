/// One value as SQLite stores it.
package enum DatabaseValue: Hashable, Sendable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case blob([UInt8])

    package init(_ value: Int64?) { self = value.map(DatabaseValue.integer) ?? .null }
    package init(_ value: Int?) { self = value.map { .integer(Int64($0)) } ?? .null }
    package init(_ value: Double?) { self = value.map(DatabaseValue.real) ?? .null }
    package init(_ value: String?) { self = value.map(DatabaseValue.text) ?? .null }
    package init(_ value: [UInt8]?) { self = value.map(DatabaseValue.blob) ?? .null }
    package init(_ value: Bool) { self = .integer(value ? 1 : 0) }
}

extension DatabaseValue: ExpressibleByIntegerLiteral, ExpressibleByStringLiteral, ExpressibleByNilLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByFloatLiteral
{
    package init(integerLiteral value: Int64) { self = .integer(value) }
    package init(stringLiteral value: String) { self = .text(value) }
    package init(nilLiteral: ()) { self = .null }
    package init(booleanLiteral value: Bool) { self = .integer(value ? 1 : 0) }
    package init(floatLiteral value: Double) { self = .real(value) }
}
