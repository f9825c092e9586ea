/// Which database's SQL a statement is for, as far as it matters.
enum StoreDialect: Sendable {
    case sqlite
    case postgres

    /// Ends a query that picks a row to be changed: rows that other transactions are about to change are passed over.
    var skipLocked: String {
        switch self {
        case .sqlite: ""
        case .postgres: "FOR UPDATE SKIP LOCKED"
        }
    }

    /// Ends a query whose row is going to be changed, so that nobody else changes it in between.
    var forUpdate: String {
        switch self {
        case .sqlite: ""
        case .postgres: "FOR UPDATE"
        }
    }

    /// The same for a join of which only some tables' rows are changed.
    func forUpdate(of tables: String...) -> String {
        switch self {
        case .sqlite: ""
        case .postgres: "FOR UPDATE OF \(tables.joined(separator: ", "))"
        }
    }
}
