import BerthCore
import SQLiteDatabase

/// What agents answer to assignments.
extension Store {
    /// The agent has journaled the attempt.
    /// - Returns: false when the attempt is not open under this epoch; true again for a repeat.
    package func accept(attempt: String, epoch: UInt64, now: Int64) async throws(StoreError) -> Bool {
        try await change("accept attempt \(attempt)") { [coordinator] connection in
            guard let open = try Self.openAttempt(attempt, epoch: epoch, connection) else { return false }
            try Self.requireHeld(open.host, by: coordinator, connection)
            guard open.run.state.attempt == .assigned else { return true }
            try connection.execute(
                "UPDATE attempt SET state = 'running', accepted_at = ? WHERE number = ?",
                [.integer(now), .integer(open.number)]
            )
            try Self.move(open.run, .accepted, now: now, connection)
            try connection.execute(
                "UPDATE slot SET declines = 0 WHERE name = ? AND declines > 0",
                [.text(open.slot)]
            )
            return true
        }
    }

    /// The agent does not take the attempt: nothing was executed, so no entry is recorded, and the run waits again.
    /// The epoch stays used. Too many in a row for the slot's own reasons quarantine it.
    /// - Returns: false when the attempt was not waiting for an answer under this epoch.
    @discardableResult
    package func decline(
        attempt: String,
        epoch: UInt64,
        cause: OutcomeCause,
        now: Int64
    ) async throws(StoreError) -> Bool {
        let operation = "decline attempt \(attempt)"
        let said: DatabaseValue
        do { said = try .json(cause) } catch { throw StoreError(operation, error) }
        return try await change(operation) { [coordinator] connection in
            guard let open = try Self.openAttempt(attempt, epoch: epoch, connection),
                open.run.state.attempt == .assigned
            else { return false }
            try Self.requireHeld(open.host, by: coordinator, connection)
            try connection.execute(
                "UPDATE attempt SET state = 'declined', cause = ?, ended_at = ? WHERE number = ?",
                [said, .integer(now), .integer(open.number)]
            )
            try Self.move(open.run, .declined, now: now, connection)
            try Self.judgeDecline(open.slot, cause, now: now, connection)
            return true
        }
    }
}
