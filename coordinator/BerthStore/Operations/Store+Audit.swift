import BerthCore
import SQLiteDatabase

/// What was done to the farm, by whom.
extension Store {
    /// Entries from a time on, in the order in which things were done; without `since` and `after` the last ones.
    /// - Parameters:
    ///   - since: milliseconds since 1970.
    ///   - after: entries with this number and lower ones are left out.
    ///   - limit: of entries, at most `AuditEntry.pageLimit`.
    /// - Returns: the entries, lowest number first.
    /// - Throws: `StoreError`
    package func audit(since: Int64? = nil, after: Int64? = nil, limit: Int) async throws(StoreError) -> [AuditEntry] {
        try await look("list what was done") { connection in
            let most = min(limit, AuditEntry.pageLimit)
            guard since != nil || after != nil else {
                return try connection.rows(
                    "SELECT * FROM audit ORDER BY number DESC LIMIT ?",
                    [.init(most)]
                ).map(Self.auditEntry).reversed()
            }
            return try connection.rows(
                "SELECT * FROM audit WHERE at >= ? AND number > ? ORDER BY number LIMIT ?",
                [.integer(since ?? Int64.min), .integer(after ?? 0), .init(most)]
            ).map(Self.auditEntry)
        }
    }

    /// Enters what nothing else in the store tells of.
    /// - Parameters:
    ///   - action: a word of docs/api.md.
    ///   - subject: what it is done to.
    ///   - details: particulars by name.
    ///   - actor: the token's name.
    ///   - now: milliseconds since 1970.
    /// - Throws: `StoreError`
    package func enterAudit(
        _ action: String,
        _ subject: String,
        details: [String: String],
        actor: String,
        now: Int64
    ) async throws(StoreError) {
        try await change("enter what was done") { connection in
            try Self.enterAudit(action, subject, details, actor: actor, now: now, connection)
        }
    }

    /// Enters an action, in the transaction that does it.
    static func enterAudit(
        _ action: String,
        _ subject: String,
        _ details: [String: String] = [:],
        actor: String,
        now: Int64,
        _ connection: any StoreConnection
    ) throws {
        try connection.execute(
            "INSERT INTO audit (at, actor, action, subject, details) VALUES (?, ?, ?, ?, ?)",
            [.integer(now), .text(actor), .text(action), .text(subject), try .json(details)]
        )
    }

    private static func auditEntry(_ row: DatabaseRow) throws -> AuditEntry {
        AuditEntry(
            number: try row.integer("number"),
            at: try row.integer("at"),
            actor: try row.text("actor"),
            action: try row.text("action"),
            subject: try row.text("subject"),
            details: try row.json([String: String].self, "details")
        )
    }
}
