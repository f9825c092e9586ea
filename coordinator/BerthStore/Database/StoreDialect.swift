/// Which database's SQL a statement is for, as far as it matters.
package enum StoreDialect: Sendable {
    case sqlite
    case postgres

    /// Ends a query that picks a row to be changed: rows that other transactions are about to change are passed over.
    var skipLocked: String {
        switch self {
        case .sqlite: ""
        case .postgres: "FOR UPDATE SKIP LOCKED"
        }
    }

    /// Ends a query whose row must not be changed by others before this transaction ends.
    var forShare: String {
        switch self {
        case .sqlite: ""
        case .postgres: "FOR SHARE"
        }
    }

    /// The database's clock in milliseconds since 1970: one clock for all who share the database.
    var clockQuery: String {
        switch self {
        case .sqlite: "SELECT CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) AS now"
        case .postgres: "SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT) AS now"
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
