import BerthCore
import SQLiteDatabase

extension Store {
    /// Enters a case's definition under the digest of its canonical bytes; one that is known already stays.
    package func addCase(_ definition: CaseDefinition, digest: Digest, now: Int64) throws(StoreError) {
        try change("add case \(definition.name)") { connection in
            _ = try connection.execute(
                """
                INSERT INTO case_definition (hex, name, version, definition, added_at) VALUES (?, ?, ?, ?, ?)
                ON CONFLICT (hex) DO NOTHING
                """,
                [
                    .text(digest.hex), .text(definition.name), .integer(Int64(definition.version)), .json(definition),
                    .integer(now),
                ]
            )
        }
    }

    /// The case of the highest version under a name; of equal versions the one that was added last.
    /// - Throws: `StoreError.unknownCase`, which lists the names that there are.
    package func latestCase(named name: String) throws(StoreError) -> (definition: CaseDefinition, digest: Digest) {
        try look("find case \(name.debugDescription)") { connection in
            let row = try connection.firstRow(
                "SELECT * FROM case_definition WHERE name = ? ORDER BY version DESC, rowid DESC LIMIT 1",
                [.text(name)]
            )
            guard let row else {
                let names = try connection.rows("SELECT DISTINCT name FROM case_definition ORDER BY name")
                throw StoreError.unknownCase(name: name, known: try names.map { try $0.text(0) })
            }
            return (try row.json(CaseDefinition.self, "definition"), try row.digest("hex"))
        }
    }
}
