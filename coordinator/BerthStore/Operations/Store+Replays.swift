import BerthCore
import BerthSystem
import SQLiteDatabase

/// A run that has an entry in a ledger, with the pins that stand there.
package struct RecordedRun: Sendable, Hashable {
    package let run: String
    package let pins: Pins
}

extension Store {
    /// The runs that a replay means, each once, in the order of the ledgers. Pins are read from the entries' own
    /// bytes, which must have the digest under which they were chained.
    /// - Throws: `StoreError.unknownRun`, `.unknownBatch`, `.damaged`
    package func recordedRuns(_ request: ReplayRequest) async throws(StoreError) -> [RecordedRun] {
        try await look("find recorded runs") { connection in
            let (condition, parameters) = try Self.condition(request, connection)
            let rows = try connection.rows(
                """
                SELECT ledger_entry.run, bytes, hex FROM ledger_entry JOIN run ON run.number = ledger_entry.run
                WHERE \(condition) ORDER BY ledger_entry.run, ledger, sequence
                """,
                parameters
            )
            var runs: [RecordedRun] = []
            for row in rows {
                let run = RecordID.run.text(try row.integer("run"))
                guard runs.last?.run != run else { continue }
                let bytes = try row.blob("bytes")
                guard Hex.encode(SHA256.digest(of: bytes)) == (try row.text("hex")) else {
                    throw FormatError(document: "ledger entry of run \(run)", problem: "its bytes have another digest")
                }
                let entry = try CanonicalJSON.decode(LedgerEntry.self, from: bytes, document: "ledger entry")
                runs.append(RecordedRun(run: run, pins: entry.pins))
            }
            return runs
        }
    }

    private static func condition(
        _ request: ReplayRequest,
        _ connection: any StoreConnection
    ) throws -> (String, [DatabaseValue]) {
        if let run = request.run {
            guard let number = RecordID.run.number(run),
                try connection.firstRow("SELECT 1 FROM run WHERE number = ?", [.integer(number)]) != nil
            else { throw StoreError.unknownRun(id: run) }
            return ("ledger_entry.run = ?", [.integer(number)])
        }
        if let batch = request.batch {
            guard let number = RecordID.batch.number(batch),
                try connection.firstRow("SELECT 1 FROM batch WHERE number = ?", [.integer(number)]) != nil
            else { throw StoreError.unknownBatch(id: batch) }
            return ("run.batch = ?", [.integer(number)])
        }
        return (
            "recorded_at >= ?1 AND recorded_at < ?2 AND (CAST(?3 AS TEXT) IS NULL OR ledger = ?3)",
            [.integer(request.since ?? 0), .integer(request.until ?? .max), .init(request.ledger?.rawValue)]
        )
    }

    /// What is wrong with the stored definition of a case, whose bytes must have the pinned digest; nil if nothing is.
    package func caseFault(_ digest: Digest) async throws(StoreError) -> String? {
        try await look("check case \(digest.short)") { connection in
            let row = try connection.firstRow(
                "SELECT definition FROM case_definition WHERE hex = ?",
                [.text(digest.hex)]
            )
            guard let row else { return "the definition \(digest) is not archived" }
            let actual = Digest(bytes: SHA256.digest(of: Array(try row.text("definition").utf8)))
            return actual == digest ? nil : "the archived definition \(digest) is damaged: its bytes have \(actual)"
        }
    }
}
