import BerthCore
import SQLiteDatabase

extension Store {
    /// A batch with its runs.
    /// - Throws: `StoreError.unknownBatch`
    package func batch(id: String) async throws(StoreError) -> BatchView {
        guard let number = RecordID.batch.number(id) else { throw .unknownBatch(id: id) }
        return try await look("read batch \(id)") { try Self.batchView(number, $0) }
    }

    /// The latest batches, newest first.
    package func batches(limit: Int) async throws(StoreError) -> [BatchView] {
        try await look("list batches") { connection in
            try connection.rows("SELECT number FROM batch ORDER BY number DESC LIMIT ?", [.init(limit)]).map {
                try Self.batchView(try $0.integer("number"), connection)
            }
        }
    }

    /// - Throws: `StoreError.unknownRun`
    package func run(id: String) async throws(StoreError) -> RunView {
        guard let number = RecordID.run.number(id) else { throw .unknownRun(id: id) }
        return try await look("read run \(id)") { connection in
            guard let run = try Self.runViews("run.number = ?", number, connection).first else {
                throw StoreError.unknownRun(id: id)
            }
            return run
        }
    }

    /// The runs of a batch in order.
    /// - Throws: `StoreError.unknownBatch`
    package func runs(batch id: String) async throws(StoreError) -> [RunView] {
        try await batch(id: id).runs
    }

    /// How many runs wait, and how many are bound to a slot.
    package func counts() async throws(StoreError) -> (queued: Int, running: Int) {
        try await look("count runs") { connection in
            let row = try connection.firstRow(
                """
                SELECT (SELECT CAST(coalesce(sum(waiting), 0) AS BIGINT) FROM lane WHERE waiting > 0),
                    (SELECT count(*) FROM attempt WHERE state IN ('assigned', 'running'))
                """
            )
            return (Int(try row?.integer(0) ?? 0), Int(try row?.integer(1) ?? 0))
        }
    }

    static func batchView(_ number: Int64, _ connection: any StoreConnection) throws -> BatchView {
        guard let row = try connection.firstRow("SELECT * FROM batch WHERE number = ?", [.integer(number)]) else {
            throw StoreError.unknownBatch(id: RecordID.batch.text(number))
        }
        return BatchView(
            id: RecordID.batch.text(number),
            submitter: try row.text("submitter"),
            submittedAt: try row.integer("submitted_at"),
            runs: try runViews("run.batch = ?", number, connection),
            name: try row.optionalText("name"),
            replay: try row.optionalJSON(ReplayRequest.self, "replay"),
            deadline: try row.optionalInteger("deadline")
        )
    }

    static func runViews(
        _ condition: String,
        _ number: Int64,
        _ connection: any StoreConnection
    ) throws -> [RunView] {
        var attempts: [Int64: [AttemptView]] = [:]
        let attemptRows = try connection.rows(
            """
            SELECT attempt.* FROM attempt JOIN run ON run.number = attempt.run
            WHERE \(condition) ORDER BY attempt.number
            """,
            [.integer(number)]
        )
        for row in attemptRows { attempts[try row.integer("run"), default: []].append(try attemptView(row)) }
        let names = try connection.rows(
            """
            SELECT DISTINCT build.hex, build.name FROM run JOIN pinned_build ON pinned_build.pins = run.pins
            JOIN build ON build.hex = pinned_build.hex WHERE \(condition)
            """,
            [.integer(number)]
        ).reduce(into: [String: String]()) { $0[try $1.text("hex")] = try $1.text("name") }
        return try connection.rows(
            """
            SELECT run.*, pins.bytes AS pins_bytes, class.labels FROM run JOIN pins ON pins.number = run.pins
            JOIN requirement_class AS class ON class.number = run.class WHERE \(condition) ORDER BY run.number
            """,
            [.integer(number)]
        ).map { row in
            let pins = try row.json(Pins.self, "pins_bytes", connection.documents)
            let run = try row.integer("number")
            let labels = try row.json([String: String].self, "labels", connection.documents)
            return RunView(
                id: RecordID.run.text(run),
                batch: RecordID.batch.text(try row.integer("batch")),
                pins: pins,
                buildNames: pins.path.map { names[$0.hex] ?? $0.short },
                state: try row.word(RunState.self, "state"),
                verdict: try row.optionalWord(RunVerdict.self, "verdict"),
                attempts: attempts[run] ?? [],
                submittedAt: try row.integer("submitted_at"),
                finishedAt: try row.optionalInteger("finished_at"),
                labels: labels.isEmpty ? nil : labels,
                replays: try row.optionalInteger("replays").map(RecordID.run.text)
            )
        }
    }

    private static func attemptView(_ row: DatabaseRow) throws -> AttemptView {
        let report = try row.optionalJSON(AttemptReport.self, "report")
        return AttemptView(
            id: RecordID.attempt.text(try row.integer("number")),
            slot: try row.text("slot"),
            host: try row.text("host"),
            epoch: UInt64(try row.integer("epoch")),
            state: try row.word(AttemptState.self, "state"),
            outcome: try row.optionalWord(Outcome.self, "outcome"),
            cause: try row.optionalJSON(OutcomeCause.self, "cause"),
            checks: report?.checks ?? [],
            progress: nil,
            assignedAt: try row.integer("assigned_at"),
            endedAt: try row.optionalInteger("ended_at"),
            report: report
        )
    }
}
