import BerthCore
import SQLiteDatabase

extension Store {
    /// Enters a case's definition under the digest of its canonical bytes; one that is known already stays.
    /// - Returns: whether it is new.
    @discardableResult
    package func addCase(_ definition: CaseDefinition, digest: Digest, now: Int64) async throws(StoreError) -> Bool {
        try await change("add case \(definition.name)") { connection in
            try connection.execute(
                """
                INSERT INTO case_definition (hex, name, version, definition, added_at) VALUES (?, ?, ?, ?, ?)
                ON CONFLICT (hex) DO NOTHING
                """,
                [
                    .text(digest.hex), .text(definition.name), .integer(Int64(definition.version)), .json(definition),
                    .integer(now),
                ]
            ) > 0
        }
    }

    /// Enters a user's case. A version stands for one definition: a changed one needs a higher version.
    /// - Throws: `StoreError.caseTaken`
    package func addUserCase(
        _ definition: CaseDefinition,
        digest: Digest,
        now: Int64
    ) async throws(StoreError) -> (record: CaseRecord, isNew: Bool) {
        if BuiltInCases.all.contains(where: { $0.name == definition.name }) {
            throw StoreError.caseTaken(
                name: definition.name,
                problem: "every farm has a case of this name: choose another one"
            )
        }
        let latest = try await cases().first { $0.definition.name == definition.name }
        if let latest, latest.digest == digest { return (latest, false) }
        if let latest, latest.definition.version >= definition.version {
            throw StoreError.caseTaken(
                name: definition.name,
                problem: "version \(latest.definition.version) of it is there and differs: raise the version"
            )
        }
        let isNew = try await addCase(definition, digest: digest, now: now)
        return (CaseRecord(digest: digest, definition: definition, isBuiltIn: false, addedAt: now), isNew)
    }

    /// The latest version of every case, by name.
    package func cases() async throws(StoreError) -> [CaseRecord] {
        try await look("list cases") { connection in
            let rows = try connection.rows(
                "SELECT * FROM case_definition ORDER BY name, version DESC, added_at DESC, hex"
            )
            var records: [CaseRecord] = []
            for row in rows where try records.last?.definition.name != row.text("name") {
                records.append(try Self.caseRecord(row))
            }
            return records
        }
    }

    /// The case of the highest version under a name; of equal versions the one that was added last.
    /// - Throws: `StoreError.unknownCase`, which lists the names that there are.
    package func latestCase(named name: String) async throws(StoreError) -> (definition: CaseDefinition, digest: Digest)
    {
        let record = try await caseRecord(named: name)
        return (record.definition, record.digest)
    }

    /// As `latestCase`, with what is known besides.
    /// - Throws: `StoreError.unknownCase`, which lists the names that there are.
    package func caseRecord(named name: String) async throws(StoreError) -> CaseRecord {
        try await look("find case \(name.debugDescription)") { connection in
            let row = try connection.firstRow(
                "SELECT * FROM case_definition WHERE name = ? ORDER BY version DESC, added_at DESC, hex LIMIT 1",
                [.text(name)]
            )
            guard let row else {
                let names = try connection.rows("SELECT DISTINCT name FROM case_definition ORDER BY name")
                throw StoreError.unknownCase(name: name, known: try names.map { try $0.text(0) })
            }
            return try Self.caseRecord(row)
        }
    }

    private static func caseRecord(_ row: DatabaseRow) throws -> CaseRecord {
        let definition = try row.json(CaseDefinition.self, "definition")
        return CaseRecord(
            digest: try row.digest("hex"),
            definition: definition,
            isBuiltIn: BuiltInCases.all.contains(definition),
            addedAt: try row.integer("added_at")
        )
    }
}
