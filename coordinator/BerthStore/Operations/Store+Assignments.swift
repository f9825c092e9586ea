import BerthCore
import SQLiteDatabase

extension Store {
    /// An attempt as it was handed out, with the same nonce; nil for an unknown one.
    package func assignment(of attempt: String) async throws(StoreError) -> Assignment? {
        guard let number = RecordID.attempt.number(attempt) else { return nil }
        return try await look("read attempt \(attempt)") { try Self.assignment(number, $0) }
    }

    static func assignment(_ number: Int64, _ connection: any StoreConnection) throws -> Assignment? {
        let row = try connection.firstRow(
            """
            SELECT attempt.run, attempt.epoch, attempt.nonce, attempt.timeout, run.pins FROM attempt
            JOIN run ON run.number = attempt.run WHERE attempt.number = ?
            """,
            [.integer(number)]
        )
        guard let row else { return nil }
        return try pinnedWork(row.integer("pins"), connection).assignment(
            run: row.integer("run"),
            attempt: number,
            epoch: UInt64(row.integer("epoch")),
            nonce: row.text("nonce"),
            timeout: row.integer("timeout")
        )
    }

    /// What pins stand for; read once by each connection.
    static func pinnedWork(_ pins: Int64, _ connection: any StoreConnection) throws -> PinnedWork {
        let documents = connection.documents
        if let known = documents.work(of: pins) { return known }
        let row = try connection.firstRow(
            """
            SELECT pins.bytes, case_definition.definition FROM pins
            JOIN case_definition ON case_definition.hex = pins.case_hex WHERE pins.number = ?
            """,
            [.integer(pins)]
        )
        guard let row else {
            throw StoreError.damaged(operation: "read the pins of a run", problem: "there are none of number \(pins)")
        }
        let builds = try connection.rows(
            """
            SELECT build.hex, build.description FROM pinned_build JOIN build ON build.hex = pinned_build.hex
            WHERE pinned_build.pins = ? ORDER BY pinned_build.position
            """,
            [.integer(pins)]
        )
        let work = PinnedWork(
            pins: try row.json(Pins.self, "bytes", documents),
            caseDefinition: try row.json(CaseDefinition.self, "definition", documents),
            builds: try builds.map {
                AssignedBuild(
                    id: try $0.digest("hex"),
                    description: try $0.json(BuildDescription.self, "description", documents)
                )
            }
        )
        documents.keep(work, of: pins)
        return work
    }
}
