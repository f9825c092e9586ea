import BerthCore
import SQLiteDatabase

extension Store {
    /// All attempts that hold their slots, in the order in which they were assigned.
    package func openAttempts() async throws(StoreError) -> [OpenAttempt] {
        try await look("list open attempts") { connection in
            try Self.openAttempts("", [], connection)
        }
    }

    /// The same for the slots of one host.
    package func openAttempts(host: String) async throws(StoreError) -> [OpenAttempt] {
        try await look("list open attempts of host \(host)") { connection in
            try Self.openAttempts("AND attempt.host = ?", [.text(host)], connection)
        }
    }

    static func openAttempts(
        _ condition: String,
        _ parameters: [DatabaseValue],
        _ connection: any StoreConnection
    ) throws -> [OpenAttempt] {
        try connection.rows(
            """
            SELECT attempt.*, run.cancel_requested, run.expire_requested FROM attempt JOIN run ON run.number = attempt.run
            WHERE attempt.state IN ('assigned', 'running') \(condition) ORDER BY attempt.number
            """,
            parameters
        ).map { row in
            OpenAttempt(
                attempt: RecordID.attempt.text(try row.integer("number")),
                run: RecordID.run.text(try row.integer("run")),
                epoch: UInt64(try row.integer("epoch")),
                slot: try row.text("slot"),
                host: try row.text("host"),
                state: try row.word(AttemptState.self, "state"),
                assignedAt: try row.integer("assigned_at"),
                isCancelRequested: try row.bool("cancel_requested") || row.bool("expire_requested")
            )
        }
    }

    /// An open attempt that a caller names by ID and epoch, with its run.
    struct OpenReference {
        let number: Int64
        let slot: String
        let host: String
        let run: RunRecord
    }

    /// An attempt that is open under exactly this epoch. Nobody else moves it until this transaction ends.
    static func openAttempt(
        _ attempt: String,
        epoch: UInt64,
        _ connection: any StoreConnection
    ) throws -> OpenReference? {
        guard let number = RecordID.attempt.number(attempt), let epoch = Int64(exactly: epoch) else { return nil }
        return try connection.firstRow(
            """
            SELECT attempt.run, attempt.slot, attempt.host, attempt.state AS attempt_state, run.state AS run_state, run.cancel_requested,
                run.expire_requested
            FROM attempt JOIN run ON run.number = attempt.run
            WHERE attempt.number = ? AND attempt.epoch = ? AND attempt.state IN ('assigned', 'running')
            \(connection.dialect.forUpdate)
            """,
            [.integer(number), .integer(epoch)]
        ).map {
            OpenReference(
                number: number,
                slot: try $0.text("slot"),
                host: try $0.text("host"),
                run: try RunRecord($0)
            )
        }
    }

    /// Cancels a run: at once while it waits, otherwise as soon as its attempt has ended.
    /// - Returns: open attempts whose agents must be told.
    /// - Throws: `StoreError.unknownRun`
    package func cancelRun(
        _ id: String,
        actor: String? = nil,
        now: Int64
    ) async throws(StoreError) -> [OpenAttempt] {
        try await change("cancel run \(id)") { connection in
            guard let number = RecordID.run.number(id),
                try connection.firstRow("SELECT 1 FROM run WHERE number = ?", [.integer(number)]) != nil
            else { throw StoreError.unknownRun(id: id) }
            let (open, count) = try Self.cancelRuns("run.number = ?", .integer(number), now: now, connection)
            try Self.enterCancellation("run", "run \(id)", count, actor: actor, now: now, connection)
            return open
        }
    }

    /// Cancels all runs of a batch that have no end yet.
    /// - Returns: open attempts whose agents must be told.
    /// - Throws: `StoreError.unknownBatch`
    package func cancelBatch(
        _ id: String,
        actor: String? = nil,
        now: Int64
    ) async throws(StoreError) -> [OpenAttempt] {
        try await change("cancel batch \(id)") { connection in
            guard let number = RecordID.batch.number(id),
                try connection.firstRow("SELECT 1 FROM batch WHERE number = ?", [.integer(number)]) != nil
            else { throw StoreError.unknownBatch(id: id) }
            let (open, count) = try Self.cancelRuns("run.batch = ?", .integer(number), now: now, connection)
            try Self.enterCancellation("batch", "batch \(id)", count, actor: actor, now: now, connection)
            return open
        }
    }

    /// Cancels all runs of a submitter that have no end yet.
    /// - Returns: open attempts whose agents must be told, and how many runs of which batches it concerned.
    package func cancelSubmitter(
        _ submitter: String,
        actor: String? = nil,
        now: Int64
    ) async throws(StoreError) -> (open: [OpenAttempt], runs: Int, batches: [String]) {
        try await change("cancel all runs of \(submitter)") { connection in
            let condition = "run.lane IN (SELECT number FROM lane WHERE submitter = ?)"
            let concerned = try connection.rows(
                """
                SELECT batch, count(*) AS runs FROM run
                WHERE state IN ('queued', 'assigned', 'running') AND \(condition) GROUP BY batch ORDER BY batch
                """,
                [.text(submitter)]
            )
            let (open, count) = try Self.cancelRuns(condition, .text(submitter), now: now, connection)
            let subject = "submitter \(submitter)"
            try Self.enterCancellation("submitter", subject, count, actor: actor, now: now, connection)
            let batches = try concerned.map { RecordID.batch.text(try $0.integer("batch")) }
            for batch in batches { try connection.announce(.batch(batch)) }
            return (open, Int(try concerned.reduce(0) { $0 + (try $1.integer("runs")) }), batches)
        }
    }

    /// Keeps other transactions from moving runs until this one ends, so that none slips through between waiting and
    /// being held while both are changed one after the other.
    static func holdRuns(
        _ condition: String,
        _ parameter: DatabaseValue,
        _ connection: any StoreConnection
    ) throws {
        guard connection.dialect == .postgres else { return }
        _ = try connection.firstRow(
            """
            SELECT count(*) FROM (SELECT number FROM run
                WHERE state IN ('queued', 'assigned', 'running') AND \(condition) ORDER BY number FOR UPDATE) AS held
            """,
            [parameter]
        )
    }

    private static func cancelRuns(
        _ condition: String,
        _ parameter: DatabaseValue,
        now: Int64,
        _ connection: any StoreConnection
    ) throws -> (open: [OpenAttempt], runs: Int) {
        try holdRuns(condition, parameter, connection)
        // What waits is many and moves in one way: queued, by `cancelled`, to cancelled.
        var runs = try connection.execute(
            """
            UPDATE run SET state = 'cancelled', verdict = 'cancelled', finished_at = ?
            WHERE state = 'queued' AND \(condition)
            """,
            [.integer(now), parameter]
        )
        runs += try connection.execute(
            """
            UPDATE run SET cancel_requested = 1
            WHERE number IN (SELECT run FROM attempt WHERE state IN ('assigned', 'running')) AND cancel_requested = 0
                AND \(condition)
            """,
            [parameter]
        )
        let open = try openAttempts("AND \(condition)", [parameter], connection)
        for attempt in open { try connection.announce(.cancellation(run: attempt.run)) }
        return (open, runs)
    }

    /// Enters who cancelled what, unless there was nothing left to cancel.
    private static func enterCancellation(
        _ kind: String,
        _ subject: String,
        _ runs: Int,
        actor: String?,
        now: Int64,
        _ connection: any StoreConnection
    ) throws {
        guard let actor, runs > 0 else { return }
        try enterAudit("\(kind)-cancelled", subject, ["runs": "\(runs)"], actor: actor, now: now, connection)
    }
}
