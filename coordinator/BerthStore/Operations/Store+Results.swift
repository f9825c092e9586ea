import BerthCore
import BerthSystem
import SQLiteDatabase

extension Store {
    /// Files an agent's report.
    ///
    /// The first report of an open attempt ends it, appends its ledger entry and moves its run, all at once. A repeat
    /// is acknowledged and changes nothing. The report of an attempt that had been given up is kept beside. `bytes` are
    /// the report as it came, stored as they are; a host cannot speak for another's attempt.
    package func record(
        _ report: AttemptReport,
        bytes: [UInt8],
        host: String,
        now: Int64
    ) async throws(StoreError) -> Acknowledgement.Filing {
        let operation = "record the result of attempt \(report.attempt)"
        guard let number = RecordID.attempt.number(report.attempt) else { return .unknown }
        // The signature takes longer to check than all the rest, so it is checked before the transaction begins.
        let pinned = try await look(operation) { connection in
            try connection.firstRow(
                "SELECT agent_key FROM device JOIN attempt ON attempt.device = device.identity WHERE attempt.number = ?",
                [.integer(number)]
            )?.optionalText("agent_key")
        }
        let signer = pinned.flatMap { ReportSignature.isValid(report, by: $0) ? $0 : nil }
        return try await change(operation, order: .ledgers) { connection in
            guard let row = try Self.attemptRow(number, connection),
                UInt64(exactly: try row.integer("epoch")) == report.epoch, try row.text("host") == host,
                RecordID.run.text(try row.integer("run")) == report.run
            else { return .unknown }
            guard try row.word(AttemptState.self, "attempt_state").isOpen else {
                if try row.optionalText("report") != nil { return .recorded }
                try connection.execute(
                    """
                    INSERT INTO superseded_report (attempt, report, received_at) VALUES (?, ?, ?)
                    ON CONFLICT DO NOTHING
                    """,
                    [.integer(number), .text(String(decoding: bytes, as: UTF8.self)), .integer(now)]
                )
                return .superseded
            }
            let pins = try row.json(Pins.self, "pins", connection.documents)
            let key = try row.optionalText("agent_key")
            let ending = Ending(report: report, pins: pins, isSigned: key != nil && key == signer)
            try Self.end(row, pins, ending, report: String(decoding: bytes, as: UTF8.self), now: now, connection)
            return .recorded
        }
    }

    /// Ends an attempt whose agent is gone or silent: it is lost, and its run waits again or is out of attempts.
    /// - Returns: false when the attempt is not open under this epoch any more.
    @discardableResult
    package func giveUp(
        attempt: String,
        epoch: UInt64,
        cause: OutcomeCause,
        now: Int64
    ) async throws(StoreError) -> Bool {
        try await change("give attempt \(attempt) up", order: .ledgers) { [coordinator] connection in
            guard let open = try Self.openAttempt(attempt, epoch: epoch, connection),
                let row = try Self.attemptRow(open.number, connection)
            else { return false }
            try Self.requireHeld(open.host, by: coordinator, connection)
            let pins = try row.json(Pins.self, "pins", connection.documents)
            try Self.end(row, pins, try Ending(lost: row, cause: cause), report: nil, now: now, connection)
            return true
        }
    }

    /// Reports that came after their attempts had been given up, as they came.
    package func supersededReports() async throws(StoreError) -> [(attempt: String, bytes: [UInt8])] {
        try await look("list superseded results") { connection in
            try connection.rows("SELECT attempt, report FROM superseded_report ORDER BY attempt").map {
                (RecordID.attempt.text(try $0.integer("attempt")), Array(try $0.text("report").utf8))
            }
        }
    }

    /// How an attempt ended, as its ledger entry will say it.
    private struct Ending {
        let outcome: Outcome
        let cause: OutcomeCause?
        let checks: [CheckResult]
        let device: DeviceFacts
        let agentVersion: String
        let tools: [String: String]
        let evidence: Digest?
        let signature: AgentSignature?

        /// A report proves something about the pinned platform and system only when its device had them, and when its
        /// agent, whose key is pinned, has signed it.
        init(report: AttemptReport, pins: Pins, isSigned: Bool) {
            let doubt = report.outcome.decides ? Self.doubt(report, pins, isSigned) : nil
            outcome = doubt == nil ? report.outcome : .void
            cause = doubt ?? report.cause
            signature = doubt == nil && isSigned ? report.signature : nil
            checks = report.checks
            device = report.device
            agentVersion = report.agentVersion
            tools = report.tools
            evidence = report.evidence
        }

        private static func doubt(_ report: AttemptReport, _ pins: Pins, _ isSigned: Bool) -> OutcomeCause? {
            if report.device.platform != pins.platform || report.device.os != pins.os {
                return OutcomeCause(
                    "device-changed",
                    "the attempt ran on \(report.device.platform.rawValue) \(report.device.os), and its run pins "
                        + "\(pins.platform.rawValue) \(pins.os)"
                )
            }
            guard isSigned else {
                return OutcomeCause(
                    "signature-invalid",
                    "the report does not carry a valid signature by the key that is pinned for the slot's device"
                )
            }
            return nil
        }

        init(lost row: DatabaseRow, cause: OutcomeCause) throws {
            outcome = .lost
            self.cause = cause
            checks = []
            device = try row.json(DeviceFacts.self, "facts")
            agentVersion = try row.text("agent_version")
            tools = try row.json([String: String].self, "tools")
            evidence = nil
            signature = nil
        }
    }

    private static func attemptRow(_ number: Int64, _ connection: any StoreConnection) throws -> DatabaseRow? {
        try connection.firstRow(
            """
            SELECT attempt.*, attempt.state AS attempt_state, run.state AS run_state, run.batch, batch.submitter, run.cancel_requested, run.expire_requested,
                run.pins AS pins_number, pins.bytes AS pins, device.agent_key
            FROM attempt JOIN run ON run.number = attempt.run JOIN pins ON pins.number = run.pins
            JOIN batch ON batch.number = run.batch JOIN device ON device.identity = attempt.device
            WHERE attempt.number = ?
            \(connection.dialect.forUpdate(of: "attempt", "run"))
            """,
            [.integer(number)]
        )
    }

    private static func end(
        _ row: DatabaseRow,
        _ pins: Pins,
        _ ending: Ending,
        report: String?,
        now: Int64,
        _ connection: any StoreConnection
    ) throws {
        let attempt = try row.integer("number")
        let run = try RunRecord(row)
        let blame = RetryClass(ending.outcome, cause: ending.cause)
        let earlier = try blame.map { try unprovenAttempts(run.number, $0, connection) } ?? (same: 0, all: 0)
        // Whichever limit is nearer: of this kind of failure, or of all.
        let limit = min((blame?.limit ?? 0) - earlier.same, RetryClass.totalLimit - earlier.all)
        let history = RunStateMachine.History(
            unproven: 0,
            limit: limit,
            isContradicted: try isContradicted(ending.outcome, pins: try row.value("pins_number"), connection)
        )
        try connection.execute(
            """
            UPDATE attempt SET state = 'ended', outcome = ?, cause = ?, report = ?, ended_at = ?, retry_class = ?
            WHERE number = ?
            """,
            [
                .text(ending.outcome.rawValue), try ending.cause.map { try .json($0) } ?? .null, .init(report),
                .integer(now), .init(blame?.rawValue), .integer(attempt),
            ]
        )
        try appendEntry(row, pins, ending, now: now, connection)
        try move(run, .ended(ending.outcome, history), now: now, connection)
        try judgeSlot(
            try row.text("slot"),
            outcome: ending.outcome,
            blame: blame,
            cause: ending.cause,
            now: now,
            connection
        )
        try connection.announce(.ledger(pins.kind.rawValue))
    }

    private static func appendEntry(
        _ row: DatabaseRow,
        _ pins: Pins,
        _ ending: Ending,
        now: Int64,
        _ connection: any StoreConnection
    ) throws {
        // Always in this order: one transaction appends many results, of both kinds in whatever order they came.
        try connection.holdExclusively(.simulatorLedger)
        if pins.kind != .simulator { try connection.holdExclusively(.hardwareLedger) }
        let head = try ledgerHead(pins.kind, connection)
        let entry = LedgerEntry(
            ledger: pins.kind,
            sequence: head.length + 1,
            previous: head.head,
            recordedAt: now,
            batch: RecordID.batch.text(try row.integer("batch")),
            run: RecordID.run.text(try row.integer("run")),
            attempt: RecordID.attempt.text(try row.integer("number")),
            epoch: UInt64(try row.integer("epoch")),
            pins: pins,
            slot: try row.text("slot"),
            host: try row.text("host"),
            device: ending.device,
            agentVersion: ending.agentVersion,
            tools: ending.tools,
            outcome: ending.outcome,
            cause: ending.cause,
            checks: ending.checks,
            evidence: ending.evidence,
            signature: ending.signature,
            deciding: ending.outcome.decides,
            purpose: try row.text("submitter") == Eligibility.healthCheckSubmitter ? LedgerEntry.healthCheck : nil
        )
        let bytes = try CanonicalJSON.encode(entry)
        try connection.execute(
            """
            INSERT INTO ledger_entry (ledger, sequence, attempt, run, pins, outcome, deciding, bytes, hex, recorded_at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                .text(pins.kind.rawValue), .integer(entry.sequence), try row.value("number"), try row.value("run"),
                try row.value("pins_number"), .text(entry.outcome.rawValue), .init(entry.deciding), .blob(bytes),
                .text(Hex.encode(SHA256.digest(of: bytes))), .integer(now),
            ]
        )
    }

    /// Whether equal pins have ended the other way, in whatever batches but health checks, whose slots are in doubt.
    private static func isContradicted(
        _ outcome: Outcome,
        pins: DatabaseValue,
        _ connection: any StoreConnection
    ) throws -> Bool {
        guard outcome.decides else { return false }
        let other: Outcome = outcome == .passed ? .failed : .passed
        return try connection.firstRow(
            """
            SELECT 1 FROM ledger_entry JOIN run ON run.number = ledger_entry.run JOIN batch ON batch.number = run.batch
            WHERE ledger_entry.deciding = 1 AND ledger_entry.pins = ? AND ledger_entry.outcome = ?
                AND batch.submitter <> ? LIMIT 1
            """,
            [pins, .text(other.rawValue), .text(Eligibility.healthCheckSubmitter)]
        ) != nil
    }

    /// How many attempts of a run have ended without proof, for the same blame and in all, the one that is just ending
    /// not counted.
    private static func unprovenAttempts(
        _ run: Int64,
        _ blame: RetryClass,
        _ connection: any StoreConnection
    ) throws -> (same: Int, all: Int) {
        let rows = try connection.rows(
            "SELECT retry_class FROM attempt WHERE run = ? AND outcome IN ('errored', 'void', 'lost')",
            [.integer(run)]
        )
        // Those that were recorded before blame was are counted for each.
        let same = try rows.count { try $0.optionalText("retry_class") ?? blame.rawValue == blame.rawValue }
        return (same, rows.count)
    }
}
