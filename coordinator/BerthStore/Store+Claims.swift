import BerthCore
import SQLiteDatabase

extension Store {
    /// Binds the next run that a slot can take to it, as a new attempt under a new epoch.
    ///
    /// A slot that an open attempt holds gets that one again, so a repeated claim does no harm. Of the runs whose
    /// requirements the slot satisfies, higher priority goes first, then age. A run whose last attempt was on the same
    /// host comes only when there is no other. A new attempt gets `nonce` (32 hexadecimal digits) and `timeout`
    /// (milliseconds).
    ///
    /// - Returns: nil when no run is waiting for such a slot.
    /// - Throws: `StoreError.unknownSlot`
    package func claim(slot: String, now: Int64, nonce: String, timeout: Int64) throws(StoreError) -> Assignment? {
        try change("claim a run for slot \(slot)") { connection in
            guard let known = try connection.firstRow("SELECT * FROM slot WHERE name = ?", [.text(slot)]) else {
                throw StoreError.unknownSlot(name: slot)
            }
            let device = try known.text("device")
            let open = try connection.firstRow(
                "SELECT number, slot FROM attempt WHERE state IN ('assigned', 'running') AND (slot = ? OR device = ?)",
                [.text(slot), .text(device)]
            )
            if let open {
                guard try open.text("slot") == slot else { return nil }
                return try Self.assignment(try open.integer("number"), connection)
            }
            let host = try known.text("host")
            let run = try Self.nextRun(slot, avoiding: host, connection) ?? Self.nextRun(slot, avoiding: "", connection)
            guard let run else { return nil }
            try connection.execute(
                "UPDATE run SET state = 'assigned', last_host = ? WHERE number = ? AND state = 'queued'",
                [.text(host), .integer(run)]
            )
            let raised = try connection.rows(
                "UPDATE device SET highest_epoch = highest_epoch + 1 WHERE identity = ? RETURNING highest_epoch",
                [.text(device)]
            )
            try connection.execute(
                """
                INSERT INTO attempt (run, slot, host, device, facts, agent_version, tools, epoch, nonce, timeout,
                    assigned_at)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
                [
                    .integer(run), .text(slot), .text(host), .text(device), try known.value("facts"),
                    try known.value("agent_version"), try known.value("tools"),
                    .integer(try raised.first?.integer(0) ?? 0), .text(nonce), .integer(timeout), .integer(now),
                ]
            )
            return try Self.assignment(connection.lastInsertedRow, connection)
        }
    }

    /// One seek in the queue's index for each requirement class that the slot satisfies.
    package static let nextRunQuery = """
        SELECT run.number FROM slot_class JOIN run ON run.number = (
            SELECT waiting.number FROM run AS waiting INDEXED BY run_queue
            WHERE waiting.class = slot_class.class AND waiting.state = 'queued' AND waiting.last_host IS NOT ?2
            ORDER BY waiting.priority DESC, waiting.number LIMIT 1)
        WHERE slot_class.slot = ?1
        ORDER BY run.priority DESC, run.number LIMIT 1
        """

    private static func nextRun(
        _ slot: String,
        avoiding host: String,
        _ connection: DatabaseConnection
    ) throws -> Int64? {
        try connection.firstRow(nextRunQuery, [.text(slot), .text(host)])?.integer(0)
    }

    /// An attempt as it was handed out, with the same nonce; nil for an unknown one.
    package func assignment(of attempt: String) throws(StoreError) -> Assignment? {
        guard let number = RecordID.attempt.number(attempt) else { return nil }
        return try look("read attempt \(attempt)") { connection in
            guard try connection.firstRow("SELECT 1 FROM attempt WHERE number = ?", [.integer(number)]) != nil else {
                return nil
            }
            return try Self.assignment(number, connection)
        }
    }

    private static func assignment(_ number: Int64, _ connection: DatabaseConnection) throws -> Assignment? {
        let row = try connection.firstRow(
            """
            SELECT attempt.*, run.pins AS pins_number, pins.bytes AS pins FROM attempt
            JOIN run ON run.number = attempt.run JOIN pins ON pins.number = run.pins WHERE attempt.number = ?
            """,
            [.integer(number)]
        )
        guard let row else { return nil }
        let pins = try row.json(Pins.self, "pins")
        let builds = try connection.rows(
            """
            SELECT build.hex, build.description FROM pinned_build JOIN build ON build.hex = pinned_build.hex
            WHERE pinned_build.pins = ? ORDER BY pinned_build.position
            """,
            [try row.value("pins_number")]
        ).map {
            AssignedBuild(id: try $0.digest("hex"), description: try $0.json(BuildDescription.self, "description"))
        }
        return Assignment(
            run: RecordID.run.text(try row.integer("run")),
            attempt: RecordID.attempt.text(number),
            epoch: UInt64(try row.integer("epoch")),
            nonce: try row.text("nonce"),
            pins: pins,
            caseDefinition: try caseDefinition(pins, connection),
            builds: builds,
            timeout: try row.integer("timeout")
        )
    }

    /// The agent has journaled the attempt.
    /// - Returns: false when the attempt is not open under this epoch; true again for a repeat.
    package func accept(attempt: String, epoch: UInt64, now: Int64) throws(StoreError) -> Bool {
        try change("accept attempt \(attempt)") { connection in
            guard let open = try Self.openAttempt(attempt, epoch: epoch, connection) else { return false }
            guard open.state == .assigned else { return true }
            try connection.execute(
                "UPDATE attempt SET state = 'running', accepted_at = ? WHERE number = ?",
                [.integer(now), .integer(open.number)]
            )
            try connection.execute("UPDATE run SET state = 'running' WHERE number = ?", [.integer(open.run)])
            return true
        }
    }

    /// The agent does not take the attempt: nothing was executed, so no entry is recorded, and the run waits again.
    /// The epoch stays used.
    /// - Returns: false when the attempt was not waiting for an answer under this epoch.
    @discardableResult
    package func decline(
        attempt: String,
        epoch: UInt64,
        cause: OutcomeCause,
        now: Int64
    ) throws(StoreError) -> Bool {
        try change("decline attempt \(attempt)") { connection in
            guard let open = try Self.openAttempt(attempt, epoch: epoch, connection), open.state == .assigned else {
                return false
            }
            try connection.execute(
                "UPDATE attempt SET state = 'declined', cause = ?, ended_at = ? WHERE number = ?",
                [.json(cause), .integer(now), .integer(open.number)]
            )
            if open.isCancelRequested {
                try Self.finish(open.run, .cancelled, .cancelled, now: now, connection)
            } else {
                try connection.execute("UPDATE run SET state = 'queued' WHERE number = ?", [.integer(open.run)])
            }
            return true
        }
    }
}
