import BerthCore
import SQLiteDatabase

extension Store {
    /// Binds the next run that a slot can take to it, as a new attempt under a new epoch.
    ///
    /// A slot that an open attempt holds gets that one again, so a repeated claim does no harm. Of the runs whose
    /// requirements the slot satisfies, those go first that `SchedulingOrder` says. A run whose last attempt was on the
    /// same host comes only when there is no other among the first `lookahead` of its lane. A new attempt gets `nonce`
    /// (32 hexadecimal digits) and `timeout` (milliseconds).
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
            guard let known = try ClaimingSlot(named: slot, connection) else {
                throw StoreError.unknownSlot(name: slot)
            }
            try Self.requireHeld(known.host, by: coordinator, connection)
            if let open = known.openAttempt { return try Self.assignment(open, connection) }
            guard !known.isDeviceHeld, let next = try Self.nextRun(known, now: now, connection) else { return nil }
            try Self.move(next.run, .claimed, host: known.host, now: now, connection)
            try connection.execute(
                """
                INSERT INTO submitter_share (submitter, served) VALUES (?, 1)
                ON CONFLICT (submitter) DO UPDATE SET served = submitter_share.served + 1
                """,
                [.text(next.submitter)]
            )
            let epoch = try known.raiseEpoch(connection)
            let attempt = try connection.insert(
                """
                INSERT INTO attempt (run, slot, host, device, facts, agent_version, tools, epoch, nonce, timeout,
                    assigned_at)
                SELECT CAST(? AS BIGINT), name, host, device, facts, agent_version, tools, CAST(? AS BIGINT), ?,
                    CAST(? AS BIGINT), CAST(? AS BIGINT) FROM slot WHERE name = ?
                """,
                [
                    .integer(next.run.number), .integer(epoch), .text(nonce), .integer(timeout), .integer(now),
                    .text(slot),
                ]
            )
            let work = try Self.pinnedWork(next.pins, connection)
            return work.assignment(
                run: next.run.number,
                attempt: attempt,
                epoch: UInt64(epoch),
                nonce: nonce,
                timeout: timeout
            )
        }
    }

    /// A run that a slot is to take.
    private struct NextRun {
        let run: RunRecord
        let submitter: String
        /// Their number.
        let pins: Int64

        init(_ number: Int64, _ lane: WaitingLane, pins: Int64) {
            run = RunRecord(number: number, state: .init(run: .queued))
            submitter = lane.submitter
            self.pins = pins
        }
    }

    private static func nextRun(
        _ slot: ClaimingSlot,
        now: Int64,
        _ connection: any StoreConnection
    ) throws -> NextRun? {
        let rows = try connection.rows(lanesQuery, [.text(slot.name)])
        guard !rows.isEmpty else { return nil }
        let standing = try slot.standing(now: now, connection)
        let limits = slot.mayLimitsApply ? try usedLimitsForClaim(connection) : []
        var eligible: [WaitingLane] = []
        var admitted: [Int64: [String]] = [:]
        var oldest: [Int64: (host: String?, pins: Int64)] = [:]
        for row in rows {
            let requirement = try requirement(row, connection.documents)
            let lane = try waitingLane(row)
            let run = RunStanding(
                requirement: requirement,
                submitter: lane.submitter,
                batch: nil,
                limits: limits.concerning(submitter: lane.submitter, labels: requirement.labels)
            )
            guard Eligibility.obstacles(run, standing).isEmpty else { continue }
            eligible.append(lane)
            admitted[lane.number] = Eligibility.admittedBatches(run, standing)
            oldest[lane.number] = (try row.optionalText("last_host"), try row.integer("pins"))
        }
        let ordered = SchedulingOrder.ordered(eligible, now: now)
        // First come runs whose last attempt was elsewhere; the slot's own host gets them back only if nothing else waits.
        for avoided in [slot.host, ""] {
            for lane in ordered {
                if admitted[lane.number] == nil, let first = oldest[lane.number],
                    first.host == nil || first.host != avoided, try isThere(lane.oldestRun, connection)
                {
                    return NextRun(lane.oldestRun, lane, pins: first.pins)
                }
                let run = try nextInLane(lane.number, of: admitted[lane.number], avoiding: avoided, connection)
                guard let run else { continue }
                let pins = try connection.firstRow("SELECT pins FROM run WHERE number = ?", [.integer(run)])
                return NextRun(run, lane, pins: try pins?.integer(0) ?? 0)
            }
        }
        return nil
    }

    /// Whether a run that was seen to be queued still is, so that it can be taken.
    private static func isThere(_ run: Int64, _ connection: any StoreConnection) throws -> Bool {
        // Where nobody else writes it is.
        if connection.dialect == .sqlite { return true }
        let query = "SELECT number FROM run WHERE number = ? AND state = 'queued' " + connection.dialect.skipLocked
        return try connection.firstRow(query, [.integer(run)]) != nil
    }

    private static func nextInLane(
        _ lane: Int64,
        of batches: [String]?,
        avoiding host: String,
        _ connection: any StoreConnection
    ) throws -> Int64? {
        let locking = " " + connection.dialect.skipLocked
        guard let batches else {
            let query = nextInLaneQuery(connection.dialect) + locking
            return try connection.firstRow(query, [.integer(lane), .text(host)])?.integer(0)
        }
        for batch in batches.compactMap(RecordID.batch.number) {
            let row = try connection.firstRow(
                nextOfBatchQuery + locking,
                [.integer(batch), .integer(lane), .text(host)]
            )
            if let row { return try row.integer(0) }
        }
        return nil
    }

    /// The lanes of a slot in which runs wait, each with its oldest run: one seek a lane.
    package static let lanesQuery = """
        SELECT lane.number, lane.submitter, lane.priority, coalesce(share.served, 0) AS served,
            oldest.number AS oldest, oldest.submitted_at, oldest.last_host, oldest.pins,
            class.platform, class.os_version, class.os_build, class.features, class.labels
        FROM slot_class JOIN lane ON lane.class = slot_class.class AND lane.waiting > 0
        JOIN requirement_class AS class ON class.number = lane.class
        LEFT JOIN submitter_share AS share ON share.submitter = lane.submitter
        JOIN run AS oldest ON oldest.number = (
            SELECT run.number FROM run WHERE run.lane = lane.number AND run.state = 'queued'
            ORDER BY run.number LIMIT 1)
        WHERE slot_class.slot = ?
        """

    /// How many runs of a lane are looked at for one whose last attempt was elsewhere. Where most come back to the same
    /// host, as in a farm of one, they would all be passed over by each claim.
    package static let lookahead = 100

    /// The oldest run of a lane whose last attempt was not on a host, if the first few have one: one seek, and a step for
    /// each that is passed over.
    package static func nextInLaneQuery(_ dialect: StoreDialect) -> String {
        switch dialect {
        case .sqlite: nextInLane
        case .postgres: nextInSharedLane
        }
    }

    private static let nextInLane = """
        SELECT number FROM (
            SELECT number, last_host FROM run WHERE lane = ? AND state = 'queued' ORDER BY number LIMIT \(lookahead))
        WHERE last_host IS NULL OR last_host <> ? LIMIT 1
        """

    /// The same where the row is to be locked, which a query of its own does not allow.
    private static let nextInSharedLane = """
        SELECT number FROM run
        WHERE lane = ?1 AND state = 'queued' AND (last_host IS NULL OR last_host <> ?2)
            AND number < coalesce(
                (SELECT number FROM run WHERE lane = ?1 AND state = 'queued' ORDER BY number LIMIT 1 OFFSET \(lookahead)),
                \(Int64.max))
        ORDER BY number LIMIT 1
        """

    /// The same among the runs of a batch. These were numbered one after the other, so the queue is read from the first
    /// to the last of them; the plus keeps it from being read by batch.
    package static let nextOfBatchQuery = """
        SELECT number FROM run
        WHERE lane = ?2 AND state = 'queued' AND +batch = ?1 AND (last_host IS NULL OR last_host <> ?3)
            AND number BETWEEN (SELECT min(number) FROM run WHERE batch = ?1)
                AND (SELECT max(number) FROM run WHERE batch = ?1)
        ORDER BY number LIMIT 1
        """
}
