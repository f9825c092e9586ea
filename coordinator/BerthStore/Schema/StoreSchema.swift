import SQLiteDatabase

/// The database's shape, as numbered steps forward. A step that was released is never changed; a new one follows it.
enum StoreSchema {
    /// Steps from nothing to the present; the schema version is the number of steps taken.
    static let steps: [SchemaStep] = [
        .first, .second, .third, .fourth, .scheduling, .coordinators, .audit, .declines, .removals, .leanClaims,
    ]

    /// Takes the steps that the database lacks, all as one transaction.
    /// - Throws: `StoreError.newerSchema` for a database of a newer program, `StoreFailure`
    static func bringForward(_ session: any StoreSession, store: String) throws {
        try session.transaction(writing: true) { connection in
            try connection.holdExclusively(.schema)
            let found = try version(connection)
            let known = Int64(steps.count)
            guard found >= 0, found <= known else {
                throw StoreError.newerSchema(path: store, found: found, known: known)
            }
            guard found < known else { return }
            for step in steps[Int(found)...] {
                let sql = step.sql(connection.dialect)
                if !sql.isEmpty { try connection.executeScript(sql) }
            }
            try setVersion(known, connection)
        }
    }

    /// The number in the file's header; in a PostgreSQL database, that of its own table.
    private static func version(_ connection: any StoreConnection) throws -> Int64 {
        switch connection.dialect {
        case .sqlite: return try connection.firstRow("PRAGMA user_version")?.integer(0) ?? 0
        case .postgres:
            try connection.executeScript(
                "CREATE TABLE IF NOT EXISTS schema_version (version BIGINT NOT NULL CHECK (version >= 0))"
            )
            return try connection.firstRow("SELECT version FROM schema_version")?.integer(0) ?? 0
        }
    }

    private static func setVersion(_ version: Int64, _ connection: any StoreConnection) throws {
        switch connection.dialect {
        case .sqlite: try connection.executeScript("PRAGMA user_version = \(version)")
        case .postgres:
            try connection.executeScript(
                "DELETE FROM schema_version; INSERT INTO schema_version VALUES (\(version))"
            )
        }
    }
}
