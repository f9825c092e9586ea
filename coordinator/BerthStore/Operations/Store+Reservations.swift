import BerthCore
import BerthSystem
import SQLiteDatabase

/// Slots held ahead of time, and limits on who may hold how many.
extension Store {
    /// Reserves a slot for a batch or for runs with a label (`key:value`); exactly one of the two is given.
    /// - Throws: `StoreError.unknownSlot`, `.unknownBatch`, `.invalidSubmission`
    package func reserve(
        slot: String,
        batch: String?,
        label: String?,
        until: Int64,
        reason: String,
        actor: String,
        now: Int64
    ) async throws(StoreError) -> Reservation {
        guard (batch == nil) != (label == nil) else {
            throw .invalidSubmission(problem: "a reservation is for a batch or for a label, and for one of them")
        }
        guard until > now else {
            throw .invalidSubmission(problem: "the reservation would end before it begins: choose a later end")
        }
        if let label, !Self.isLabel(label) {
            throw .invalidSubmission(problem: "\(label.debugDescription) is no label: write it as key:value")
        }
        return try await change("reserve slot \(slot)", order: .admission) { connection in
            try connection.holdExclusively(.admission)
            let known = "SELECT 1 FROM slot WHERE name = ? AND \(Self.isOfPresentHost)"
            guard try connection.firstRow(known, [.text(slot)]) != nil else {
                throw StoreError.unknownSlot(name: slot)
            }
            var batchNumber: Int64?
            if let batch {
                batchNumber = RecordID.batch.number(batch)
                guard let number = batchNumber,
                    try connection.firstRow("SELECT 1 FROM batch WHERE number = ?", [.integer(number)]) != nil
                else { throw StoreError.unknownBatch(id: batch) }
            }
            let number = try connection.insert(
                """
                INSERT INTO reservation (slot, batch, label, until, reason, actor, made_at)
                VALUES (?, ?, ?, ?, ?, ?, ?)
                """,
                [
                    .text(slot), .init(batchNumber), .init(label), .integer(until), .text(reason), .text(actor),
                    .integer(now),
                ]
            )
            let reservation = Reservation(
                id: RecordID.reservation.text(number),
                slot: slot,
                batch: batch,
                label: label,
                until: until,
                reason: reason,
                actor: actor
            )
            try Self.enterAudit("reserved", "slot \(slot)", reservation.particulars, actor: actor, now: now, connection)
            try connection.announce(.hosts)
            return reservation
        }
    }

    /// Ends a reservation before its time.
    /// - Parameters:
    ///   - id: the reservation's.
    ///   - actor: whose wish it is.
    ///   - now: milliseconds since 1970.
    /// - Returns: whether there was such a one.
    /// - Throws: `StoreError`
    package func endReservation(_ id: String, actor: String, now: Int64) async throws(StoreError) -> Bool {
        try await change("end reservation \(id)") { connection in
            guard let number = RecordID.reservation.number(id) else { return false }
            let row = try connection.firstRow(
                "DELETE FROM reservation WHERE number = ? RETURNING *",
                [.integer(number)]
            )
            guard let ended = try row.map(Self.reservation) else { return false }
            try Self.enterAudit(
                "reservation-ended",
                "slot \(ended.slot)",
                ended.particulars,
                actor: actor,
                now: now,
                connection
            )
            try connection.announce(.hosts)
            try connection.announce(.work)
            return true
        }
    }

    /// The reservations that are in force, by slot.
    package func reservations(now: Int64) async throws(StoreError) -> [Reservation] {
        try await look("list reservations") { connection in
            try connection.rows("SELECT * FROM reservation WHERE until > ? ORDER BY slot, number", [.integer(now)])
                .map(Self.reservation)
        }
    }

    static func reservations(of slot: String, now: Int64, _ connection: any StoreConnection) throws -> [Reservation] {
        try connection.rows(
            "SELECT * FROM reservation WHERE slot = ? AND until > ? ORDER BY number",
            [.text(slot), .integer(now)]
        ).map(reservation)
    }

    private static func reservation(_ row: DatabaseRow) throws -> Reservation {
        Reservation(
            id: RecordID.reservation.text(try row.integer("number")),
            slot: try row.text("slot"),
            batch: try row.optionalInteger("batch").map(RecordID.batch.text),
            label: try row.optionalText("label"),
            until: try row.integer("until"),
            reason: try row.text("reason"),
            actor: try row.text("actor")
        )
    }

    /// Sets how many slots a submitter's, or a label's, runs may hold at once; nil lifts the limit.
    /// - Throws: `StoreError.invalidSubmission`
    package func setLimit(
        _ subject: RunLimit.Subject,
        _ name: String,
        most: Int?,
        actor: String,
        now: Int64
    ) async throws(StoreError) {
        if let most, most < 0 { throw .invalidSubmission(problem: "a limit is 0 or more, not \(most)") }
        if subject == .label, !Self.isLabel(name) {
            throw .invalidSubmission(problem: "\(name.debugDescription) is no label: write it as key:value")
        }
        try await change("limit \(subject.rawValue) \(name)", order: .admission) { connection in
            try connection.holdExclusively(.admission)
            try connection.execute(
                "DELETE FROM run_limit WHERE subject = ? AND name = ?",
                [.text(subject.rawValue), .text(name)]
            )
            if let most {
                try connection.execute(
                    "INSERT INTO run_limit (subject, name, most, actor) VALUES (?, ?, ?, ?)",
                    [.text(subject.rawValue), .text(name), .init(most), .text(actor)]
                )
            }
            try Self.enterAudit(
                most == nil ? "limit-lifted" : "limit-set",
                "\(subject.rawValue) \(name)",
                most.map { ["most": "\($0)"] } ?? [:],
                actor: actor,
                now: now,
                connection
            )
            try connection.announce(.work)
        }
    }

    /// All limits with what is used of them.
    package func limits() async throws(StoreError) -> [UsedLimit] {
        try await look("list limits") { try Self.usedLimits($0) }
    }

    /// The limits with what is used of them, for who is about to use one more: another such one waits.
    static func usedLimitsForClaim(_ connection: any StoreConnection) throws -> [UsedLimit] {
        guard try connection.firstRow("SELECT 1 FROM run_limit LIMIT 1") != nil else { return [] }
        try connection.holdExclusively(.limits)
        return try usedLimits(connection)
    }

    static func usedLimits(_ connection: any StoreConnection) throws -> [UsedLimit] {
        let limits = try connection.rows("SELECT * FROM run_limit ORDER BY subject, name").map { row in
            RunLimit(
                subject: try row.word(RunLimit.Subject.self, "subject"),
                name: try row.text("name"),
                most: Int(try row.integer("most"))
            )
        }
        guard !limits.isEmpty else { return [] }
        // No farm has more open attempts than slots.
        let open = try connection.rows(
            """
            SELECT lane.submitter, class.labels FROM attempt JOIN run ON run.number = attempt.run
            JOIN lane ON lane.number = run.lane JOIN requirement_class AS class ON class.number = run.class
            WHERE attempt.state IN ('assigned', 'running')
            """
        ).map { row in
            (submitter: try row.text("submitter"), labels: try row.json([String: String].self, "labels"))
        }
        return limits.map { limit in
            let used =
                switch limit.subject {
                case .submitter: open.count { $0.submitter == limit.name }
                case .label: open.count { $0.labels.contains { "\($0.key):\($0.value)" == limit.name } }
                }
            return UsedLimit(limit: limit, open: used)
        }
    }

    private static func isLabel(_ text: String) -> Bool {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        return parts.count == 2 && parts.allSatisfy { !$0.isEmpty }
    }
}

extension Reservation {
    /// For the audit.
    fileprivate var particulars: [String: String] {
        var particulars = ["id": id, "until": Timestamp(milliseconds: until).text, "reason": reason]
        particulars["batch"] = batch
        particulars["label"] = label
        return particulars
    }
}

extension [UsedLimit] {
    /// Those that concern a submitter's runs with these labels.
    func concerning(submitter: String, labels: [String: String]) -> [UsedLimit] {
        filter { used in
            switch used.limit.subject {
            case .submitter: used.limit.name == submitter
            case .label: labels.contains { "\($0.key):\($0.value)" == used.limit.name }
            }
        }
    }
}
