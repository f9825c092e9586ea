import BerthCore
import SQLiteDatabase

extension Store {
    /// All attempts that hold their slots, in the order in which they were assigned.
    package func openAttempts() throws(StoreError) -> [OpenAttempt] {
        try look("list open attempts") { connection in
            try Self.openAttempts("", [], connection)
        }
    }

    static func openAttempts(
        _ condition: String,
        _ parameters: [DatabaseValue],
        _ connection: DatabaseConnection
    ) throws -> [OpenAttempt] {
        try connection.rows(
            """
            SELECT attempt.*, run.cancel_requested FROM attempt JOIN run ON run.number = attempt.run
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
                isCancelRequested: try row.bool("cancel_requested")
            )
        }
    }

    /// The numbers of an open attempt that a caller names by ID and epoch.
    struct OpenReference {
        let number: Int64
        let run: Int64
        let state: AttemptState
        let isCancelRequested: Bool
    }

    /// An attempt that is open under exactly this epoch.
    static func openAttempt(
        _ attempt: String,
        epoch: UInt64,
        _ connection: DatabaseConnection
    ) throws -> OpenReference? {
        guard let number = RecordID.attempt.number(attempt), let epoch = Int64(exactly: epoch) else { return nil }
        return try connection.firstRow(
            """
            SELECT attempt.run, attempt.state, run.cancel_requested FROM attempt JOIN run ON run.number = attempt.run
            WHERE attempt.number = ? AND attempt.epoch = ? AND attempt.state IN ('assigned', 'running')
            """,
            [.integer(number), .integer(epoch)]
        ).map {
            OpenReference(
                number: number,
                run: try $0.integer("run"),
                state: try $0.word(AttemptState.self, "state"),
                isCancelRequested: try $0.bool("cancel_requested")
            )
        }
    }

    /// Gives a run its end.
    static func finish(
        _ run: Int64,
        _ state: RunState,
        _ verdict: RunVerdict,
        now: Int64,
        _ connection: DatabaseConnection
    ) throws {
        try connection.execute(
            "UPDATE run SET state = ?, verdict = ?, finished_at = ? WHERE number = ?",
            [.text(state.rawValue), .text(verdict.rawValue), .integer(now), .integer(run)]
        )
    }

    /// Cancels a run: at once while it waits, otherwise as soon as its attempt has ended.
    /// - Returns: open attempts whose agents must be told.
    /// - Throws: `StoreError.unknownRun`
    package func cancelRun(_ id: String, now: Int64) throws(StoreError) -> [OpenAttempt] {
        try change("cancel run \(id)") { connection in
            guard let number = RecordID.run.number(id),
                try connection.firstRow("SELECT 1 FROM run WHERE number = ?", [.integer(number)]) != nil
            else { throw StoreError.unknownRun(id: id) }
            return try Self.cancelRuns("run.number = ?", number, now: now, connection)
        }
    }

    /// Cancels all runs of a batch that have no end yet.
    /// - Returns: open attempts whose agents must be told.
    /// - Throws: `StoreError.unknownBatch`
    package func cancelBatch(_ id: String, now: Int64) throws(StoreError) -> [OpenAttempt] {
        try change("cancel batch \(id)") { connection in
            guard let number = RecordID.batch.number(id),
                try connection.firstRow("SELECT 1 FROM batch WHERE number = ?", [.integer(number)]) != nil
            else { throw StoreError.unknownBatch(id: id) }
            return try Self.cancelRuns("run.batch = ?", number, now: now, connection)
        }
    }

    private static func cancelRuns(
        _ condition: String,
        _ number: Int64,
        now: Int64,
        _ connection: DatabaseConnection
    ) throws -> [OpenAttempt] {
        try connection.execute(
            """
            UPDATE run SET state = 'cancelled', verdict = 'cancelled', finished_at = ?
            WHERE state = 'queued' AND \(condition)
            """,
            [.integer(now), .integer(number)]
        )
        try connection.execute(
            "UPDATE run SET cancel_requested = 1 WHERE state IN ('assigned', 'running') AND \(condition)",
            [.integer(number)]
        )
        return try openAttempts("AND \(condition)", [.integer(number)], connection)
    }
}
