import BerthCore
import SQLiteDatabase

extension Store {
    /// Ends what waits of batches whose deadline has passed, and marks what runs of them to end so.
    /// - Returns: open attempts whose agents must be told, and the batches.
    package func expire(now: Int64) async throws(StoreError) -> (open: [OpenAttempt], batches: [String]) {
        let due = try await look("look for deadlines") { connection in
            try connection.firstRow(
                "SELECT 1 FROM batch WHERE deadline <= ? AND expired_at IS NULL LIMIT 1",
                [.integer(now)]
            ) != nil
        }
        guard due else { return ([], []) }
        return try await change("end batches past their deadline") { connection in
            let batches = try connection.rows(
                "UPDATE batch SET expired_at = ? WHERE deadline <= ? AND expired_at IS NULL RETURNING number",
                [.integer(now), .integer(now)]
            ).map { try $0.integer("number") }
            var open: [OpenAttempt] = []
            for batch in batches {
                try Self.holdRuns("run.batch = ?", .integer(batch), connection)
                // What waits is many and moves in one way: queued, by `expired`, to expired.
                try connection.execute(
                    """
                    UPDATE run SET state = 'expired', verdict = 'expired', finished_at = ?
                    WHERE state = 'queued' AND batch = ?
                    """,
                    [.integer(now), .integer(batch)]
                )
                try connection.execute(
                    """
                    UPDATE run SET expire_requested = 1
                    WHERE state IN ('assigned', 'running') AND cancel_requested = 0 AND batch = ?
                    """,
                    [.integer(batch)]
                )
                open += try Self.openAttempts(
                    "AND run.batch = ? AND run.expire_requested = 1",
                    [.integer(batch)],
                    connection
                )
                try connection.announce(.batch(RecordID.batch.text(batch)))
            }
            for attempt in open { try connection.announce(.cancellation(run: attempt.run)) }
            return (open, batches.map(RecordID.batch.text))
        }
    }
}
