import Foundation

/// A value of a keychain query or result. Booleans and numbers are different types, as they are to Apple's keychain.
package enum KeychainValue: Hashable, Sendable {
    case boolean(Bool)
    case integer(Int64)
    case real(Double)
    case string(String)
    case data([UInt8])
    /// Seconds since 2001-01-01 UTC.
    case date(Double)
    case null
    case uuid(String)
    /// An access control object: a protection class, and the consent that it asks for as flags.
    case accessControl(protection: String, flags: Int64)
    case array([KeychainValue])
    case dictionary([String: KeychainValue])
    /// An object of a type that no attribute can have.
    case other(type: String)
}

extension KeychainValue {
    /// Reads a value of a message: a property list, in which a dictionary with the key `$` stands for what a property
    /// list cannot hold.
    init(propertyList value: Any) {
        switch value as AnyObject {
        case let number as NSNumber:
            let kind = String(cString: number.objCType)
            if kind == "c" {
                self = .boolean(number.boolValue)
            } else if kind == "d" || kind == "f" {
                self = .real(number.doubleValue)
            } else {
                self = .integer(number.int64Value)
            }
        case let string as NSString: self = .string(String(describing: string))
        case let data as NSData: self = .data(Array(Data(referencing: data)))
        case let date as NSDate: self = .date(date.timeIntervalSinceReferenceDate)
        case let array as NSArray: self = .array(array.map(KeychainValue.init(propertyList:)))
        case let dictionary as NSDictionary: self = Self.marked(dictionary)
        default: self = .other(type: "\(type(of: value))")
        }
    }

    private static func marked(_ dictionary: NSDictionary) -> KeychainValue {
        switch dictionary["$"] as? String {
        case "null": return .null
        case "uuid": return .uuid(dictionary["value"] as? String ?? "")
        case "access-control":
            return .accessControl(
                protection: dictionary["protection"] as? String ?? "",
                flags: Int64(dictionary["flags"] as? Int ?? 0)
            )
        case "dictionary":
            return .dictionary(Self.entries(dictionary["value"] as? NSDictionary ?? [:]))
        case .some: return .other(type: dictionary["type"] as? String ?? "unknown")
        case nil: return .dictionary(Self.entries(dictionary))
        }
    }

    /// The entries of a query.
    static func entries(_ dictionary: NSDictionary) -> [String: KeychainValue] {
        var entries: [String: KeychainValue] = [:]
        for (key, value) in dictionary {
            if let key = key as? String { entries[key] = KeychainValue(propertyList: value) }
        }
        return entries
    }

    /// The value as part of a message.
    var propertyList: Any {
        switch self {
        case .boolean(let boolean): boolean
        case .integer(let integer): NSNumber(value: integer)
        case .real(let real): real
        case .string(let string): string
        case .data(let bytes): Data(bytes)
        case .date(let seconds): Date(timeIntervalSinceReferenceDate: seconds)
        case .null: ["$": "null"]
        case .uuid(let text): ["$": "uuid", "value": text]
        case .accessControl(let protection, let flags):
            ["$": "access-control", "protection": protection, "flags": NSNumber(value: flags)] as [String: Any]
        case .array(let values): values.map(\.propertyList)
        case .dictionary(let entries): entries.mapValues(\.propertyList)
        case .other(let type): ["$": "other", "type": type]
        }
    }
}
