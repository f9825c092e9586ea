import BerthCore
import SQLiteDatabase

extension Store {
    /// Enters a build; one that is known already stays as it was first entered.
    package func addBuild(
        _ id: Digest,
        _ description: BuildDescription,
        size: Int64,
        now: Int64
    ) async throws(StoreError) -> (record: BuildRecord, isNew: Bool) {
        try await change("add build \(id.short)") { connection in
            let added = try connection.execute(
                """
                INSERT INTO build (hex, name, description, size, archived_at) VALUES (?, ?, ?, ?, ?)
                ON CONFLICT (hex) DO NOTHING
                """,
                [.text(id.hex), .text(description.name), .json(description), .integer(size), .integer(now)]
            )
            guard let row = try connection.firstRow("SELECT * FROM build WHERE hex = ?", [.text(id.hex)]) else {
                throw StoreError.unknownBuild(reference: id.description, known: [])
            }
            return (try Self.buildRecord(row), added > 0)
        }
    }

    /// All builds, newest first.
    package func builds() async throws(StoreError) -> [BuildRecord] {
        try await look("list builds") { connection in
            try connection.rows("SELECT * FROM build ORDER BY archived_at DESC, hex").map(Self.buildRecord)
        }
    }

    /// Finds the build that a person means by its ID, a prefix of the ID's digits (6 at least, with or without
    /// `sha256:`), or a name.
    ///
    /// - Throws: `StoreError.unknownBuild` or `.ambiguousBuild`, which list what there is.
    package func build(matching reference: String) async throws(StoreError) -> BuildRecord {
        try await look("find build \(reference.debugDescription)") { connection in
            let digits = reference.hasPrefix("sha256:") ? String(reference.dropFirst(7)) : reference
            let isPrefix =
                (6...64).contains(digits.utf8.count)
                && digits.utf8.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
            let rows = try connection.rows(
                "SELECT * FROM build WHERE name = ?1 OR (?2 AND hex >= ?3 AND hex < ?3 || 'g') ORDER BY hex",
                [.text(reference), .init(isPrefix), .text(digits)]
            )
            let found = try rows.map(Self.buildRecord)
            guard let build = found.first else {
                let names = try connection.rows("SELECT DISTINCT name FROM build ORDER BY name").map { try $0.text(0) }
                throw StoreError.unknownBuild(reference: reference, known: names)
            }
            guard found.count == 1 else {
                let candidates = found.map { "\($0.description.name) \($0.id.short)" }
                throw StoreError.ambiguousBuild(reference: reference, candidates: candidates)
            }
            return build
        }
    }

    private static func buildRecord(_ row: DatabaseRow) throws -> BuildRecord {
        BuildRecord(
            id: try row.digest("hex"),
            description: try row.json(BuildDescription.self, "description"),
            size: try row.integer("size"),
            archivedAt: try row.integer("archived_at")
        )
    }
}
