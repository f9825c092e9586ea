import BerthCore
import SQLiteDatabase

extension Store {
    /// Binds the next run that a slot can take to it, as a new attempt under a new epoch.
    ///
    /// A slot that an open attempt holds gets that one again, so a repeated claim does no harm. Of the runs whose
    /// requirements the slot satisfies, those go first that `SchedulingOrder` says. A run whose last attempt was on the
    /// same host comes only when there is no other. A new attempt gets `nonce` (32 hexadecimal digits) and `timeout`
    /// (milliseconds).
    ///
    /// - Returns: nil when no run is waiting for such a slot.
    /// - Throws: `StoreError.unknownSlot`
    package func claim(
        slot: String,
        now: Int64,
        nonce: String,
        timeout: Int64
    ) async throws(StoreError) -> Assignment? {
        try await change("claim a run for slot \(slot)", order: .claims) { [coordinator] connection in
            // Whoever takes parts out of use, reserves or limits is done before, or sees this claim.
            try connection.holdShared(.admission)
            guard let known = try connection.firstRow("SELECT * FROM slot WHERE name = ?", [.text(slot)]) else {
                throw StoreError.unknownSlot(name: slot)
            }
            try Self.requireHeld(try known.text("host"), by: coordinator, connection)
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
            guard let next = try Self.nextRun(known, now: now, connection) else { return nil }
            try Self.move(next.run, .claimed, host: host, now: now, connection)
            try connection.execute(
                """
                INSERT INTO submitter_share (submitter, served) VALUES (?, 1)
                ON CONFLICT (submitter) DO UPDATE SET served = submitter_share.served + 1
                """,
                [.text(next.submitter)]
            )
            let raised = try connection.firstRow(
                "UPDATE device SET highest_epoch = highest_epoch + 1 WHERE identity = ? RETURNING highest_epoch",
                [.text(device)]
            )
            let attempt = try connection.insert(
                """
                INSERT INTO attempt (run, slot, host, device, facts, agent_version, tools, epoch, nonce, timeout,
                    assigned_at)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
                [
                    .integer(next.run.number), .text(slot), .text(host), .text(device), try known.value("facts"),
                    try known.value("agent_version"), try known.value("tools"),
                    .integer(try raised?.integer(0) ?? 0), .text(nonce), .integer(timeout), .integer(now),
                ]
            )
            return try Self.assignment(attempt, connection)
        }
    }

    private static func nextRun(
        _ row: DatabaseRow,
        now: Int64,
        _ connection: any StoreConnection
    ) throws -> (run: RunRecord, submitter: String)? {
        let name = try row.text("name")
        let rows = try connection.rows(lanesQuery, [.text(name)])
        guard !rows.isEmpty else { return nil }
        let host = try row.text("host")
        let slot = SlotStanding(
            name: name,
            host: host,
            offer: try offer(row, connection.documents),
            services: try services(slot: name, host: host, connection),
            reservations: try reservations(of: name, now: now, connection),
            openAttempt: nil
        )
        let limits = try usedLimitsForClaim(connection)
        var eligible: [WaitingLane] = []
        var admitted: [Int64: [String]] = [:]
        for row in rows {
            let requirement = try requirement(row, connection.documents)
            let lane = try waitingLane(row)
            let run = RunStanding(
                requirement: requirement,
                submitter: lane.submitter,
                batch: nil,
                limits: limits.concerning(submitter: lane.submitter, labels: requirement.labels)
            )
            guard Eligibility.obstacles(run, slot).isEmpty else { continue }
            eligible.append(lane)
            admitted[lane.number] = Eligibility.admittedBatches(run, slot)
        }
        let ordered = SchedulingOrder.ordered(eligible, now: now)
        // First come runs whose last attempt was elsewhere; the slot's own host gets them back only if nothing else waits.
        for avoided in [host, ""] {
            for lane in ordered {
                let run = try nextInLane(lane.number, of: admitted[lane.number], avoiding: avoided, connection)
                if let run { return (RunRecord(number: run, state: .init(run: .queued)), lane.submitter) }
            }
        }
        return nil
    }

    private static func nextInLane(
        _ lane: Int64,
        of batches: [String]?,
        avoiding host: String,
        _ connection: any StoreConnection
    ) throws -> Int64? {
        let locking = " " + connection.dialect.skipLocked
        guard let batches else {
            return try connection.firstRow(nextInLaneQuery + locking, [.integer(lane), .text(host)])?.integer(0)
        }
        for batch in batches.compactMap(RecordID.batch.number) {
            let row = try connection.firstRow(
                """
                SELECT number FROM run WHERE batch = ? AND lane = ? AND state = 'queued'
                    AND (last_host IS NULL OR last_host <> ?) ORDER BY number LIMIT 1
                """ + locking,
                [.integer(batch), .integer(lane), .text(host)]
            )
            if let row { return try row.integer(0) }
        }
        return nil
    }

    /// The lanes of a slot in which runs wait, each with its oldest run: one seek a lane.
    package static let lanesQuery = """
        SELECT lane.number, lane.submitter, lane.priority, coalesce(share.served, 0) AS served,
            oldest.number AS oldest, oldest.submitted_at,
            class.platform, class.os_version, class.os_build, class.features, class.labels
        FROM slot_class JOIN lane ON lane.class = slot_class.class AND lane.waiting > 0
        JOIN requirement_class AS class ON class.number = lane.class
        LEFT JOIN submitter_share AS share ON share.submitter = lane.submitter
        JOIN run AS oldest ON oldest.number = (
            SELECT run.number FROM run WHERE run.lane = lane.number AND run.state = 'queued'
            ORDER BY run.number LIMIT 1)
        WHERE slot_class.slot = ?
        """

    /// The oldest run of a lane whose last attempt was not on a host: one seek, as long as few runs come back.
    package static let nextInLaneQuery = """
        SELECT number FROM run
        WHERE lane = ? AND state = 'queued' AND (last_host IS NULL OR last_host <> ?) ORDER BY number LIMIT 1
        """

    /// An attempt as it was handed out, with the same nonce; nil for an unknown one.
    package func assignment(of attempt: String) async throws(StoreError) -> Assignment? {
        guard let number = RecordID.attempt.number(attempt) else { return nil }
        return try await look("read attempt \(attempt)") { try Self.assignment(number, $0) }
    }

    private static func assignment(_ number: Int64, _ connection: any StoreConnection) throws -> Assignment? {
        let row = try connection.firstRow(
            """
            SELECT attempt.number, attempt.run, attempt.epoch, attempt.nonce, attempt.timeout, pins.number AS pins_number,
                pins.bytes AS pins, case_definition.definition FROM attempt
            JOIN run ON run.number = attempt.run JOIN pins ON pins.number = run.pins
            JOIN case_definition ON case_definition.hex = pins.case_hex WHERE attempt.number = ?
            """,
            [.integer(number)]
        )
        guard let row else { return nil }
        let builds = try connection.rows(
            """
            SELECT build.hex, build.description FROM pinned_build JOIN build ON build.hex = pinned_build.hex
            WHERE pinned_build.pins = ? ORDER BY pinned_build.position
            """,
            [try row.value("pins_number")]
        )
        let documents = connection.documents
        return Assignment(
            run: RecordID.run.text(try row.integer("run")),
            attempt: RecordID.attempt.text(try row.integer("number")),
            epoch: UInt64(try row.integer("epoch")),
            nonce: try row.text("nonce"),
            pins: try row.json(Pins.self, "pins", documents),
            caseDefinition: try row.json(CaseDefinition.self, "definition", documents),
            builds: try builds.map {
                AssignedBuild(
                    id: try $0.digest("hex"),
                    description: try $0.json(BuildDescription.self, "description", documents)
                )
            },
            timeout: try row.integer("timeout")
        )
    }

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
