import BerthCore
import SQLiteDatabase

/// What the scheduler sees, for whoever asks why it decides so.
extension Store {
    /// A run with what it demands, and how it stands to every known slot.
    package struct RunSurvey: Sendable {
        package let run: RunView
        package let standing: RunStanding
        package let slots: [SlotStanding]
        /// How many runs go before it on slots that satisfy it.
        package let ahead: Int
    }

    /// - Throws: `StoreError.unknownRun`
    package func survey(run id: String, now: Int64) async throws(StoreError) -> RunSurvey {
        guard let number = RecordID.run.number(id) else { throw .unknownRun(id: id) }
        return try await look("look why run \(id) is where it is") { connection in
            guard let view = try Self.runViews("run.number = ?", number, connection).first,
                let row = try connection.firstRow(
                    """
                    SELECT run.lane, lane.submitter, class.* FROM run JOIN lane ON lane.number = run.lane
                    JOIN requirement_class AS class ON class.number = run.class WHERE run.number = ?
                    """,
                    [.integer(number)]
                )
            else { throw StoreError.unknownRun(id: id) }
            let requirement = try Self.requirement(row, connection.documents)
            let submitter = try row.text("submitter")
            let limits = try Self.usedLimits(connection).concerning(submitter: submitter, labels: requirement.labels)
            return RunSurvey(
                run: view,
                standing: RunStanding(
                    requirement: requirement,
                    submitter: submitter,
                    batch: view.batch,
                    limits: limits
                ),
                slots: try Self.standings(now: now, connection),
                ahead: try Self.runsAhead(number, lane: try row.integer("lane"), now: now, connection)
            )
        }
    }

    /// Runs that are served before this one, in its own lane and in those that compete with it for slots.
    private static func runsAhead(
        _ run: Int64,
        lane own: Int64,
        now: Int64,
        _ connection: any StoreConnection
    ) throws -> Int {
        let lanes = try connection.rows(
            """
            SELECT DISTINCT lane.number, lane.submitter, lane.priority, lane.waiting, coalesce(share.served, 0) AS served,
                (SELECT min(run.number) FROM run WHERE run.lane = lane.number AND run.state = 'queued') AS oldest,
                (SELECT min(run.submitted_at) FROM run WHERE run.lane = lane.number AND run.state = 'queued')
                    AS submitted_at
            FROM lane JOIN slot_class ON slot_class.class = lane.class
            LEFT JOIN submitter_share AS share ON share.submitter = lane.submitter
            WHERE lane.waiting > 0 AND slot_class.slot IN (
                SELECT slot_class.slot FROM slot_class JOIN lane AS mine ON mine.class = slot_class.class
                WHERE mine.number = ?)
            """,
            [.integer(own)]
        )
        let inLane = try connection.firstRow(
            "SELECT count(*) FROM run WHERE lane = ? AND state = 'queued' AND number < ?",
            [.integer(own), .integer(run)]
        )?.integer(0)
        let waiting = try lanes.reduce(into: [Int64: Int]()) {
            $0[try $1.integer("number")] = Int(try $1.integer("waiting"))
        }
        let ordered = SchedulingOrder.ordered(try lanes.map(waitingLane), now: now)
        guard let place = ordered.first(where: { $0.number == own }) else { return Int(inLane ?? 0) }
        let higher = ordered.filter { $0.risenPriority(now: now) > place.risenPriority(now: now) }
        // Lanes of the same priority take turns, so of each other submitter as many go before as of this one's own.
        let sharing = ordered.filter {
            $0.risenPriority(now: now) == place.risenPriority(now: now) && $0.number != own
        }
        let turns = Int(inLane ?? 0) + 1
        return Int(inLane ?? 0) + higher.reduce(0) { $0 + (waiting[$1.number] ?? 0) }
            + sharing.reduce(0) { $0 + min(waiting[$1.number] ?? 0, $1.served <= place.served ? turns : turns - 1) }
    }

    static func waitingLane(_ row: DatabaseRow) throws -> WaitingLane {
        WaitingLane(
            number: try row.integer("number"),
            submitter: try row.text("submitter"),
            priority: try row.integer("priority"),
            served: try row.integer("served"),
            oldestRun: try row.integer("oldest"),
            oldestSubmittedAt: try row.integer("submitted_at")
        )
    }

    /// A slot with how all lanes in which runs wait stand to it.
    package struct SlotSurvey: Sendable {
        package let slot: SlotStanding
        package let lanes: [(standing: RunStanding, waiting: Int)]
    }

    /// - Throws: `StoreError.unknownSlot`
    package func survey(slot name: String, now: Int64) async throws(StoreError) -> SlotSurvey {
        try await look("look why slot \(name) does what it does") { connection in
            let known = "SELECT * FROM slot WHERE name = ? AND \(Self.isOfPresentHost)"
            guard let row = try connection.firstRow(known, [.text(name)]) else {
                throw StoreError.unknownSlot(name: name)
            }
            let limits = try Self.usedLimits(connection)
            let lanes = try connection.rows(
                """
                SELECT lane.submitter, lane.waiting, class.* FROM lane
                JOIN requirement_class AS class ON class.number = lane.class WHERE lane.waiting > 0
                """
            ).map { row in
                let requirement = try Self.requirement(row, connection.documents)
                let submitter = try row.text("submitter")
                return (
                    standing: RunStanding(
                        requirement: requirement,
                        submitter: submitter,
                        batch: nil,
                        limits: limits.concerning(submitter: submitter, labels: requirement.labels)
                    ), waiting: Int(try row.integer("waiting"))
                )
            }
            return SlotSurvey(slot: try Self.standing(row, now: now, connection), lanes: lanes)
        }
    }

    private static func standings(now: Int64, _ connection: any StoreConnection) throws -> [SlotStanding] {
        try connection.rows("SELECT * FROM slot WHERE \(isOfPresentHost) ORDER BY name").map {
            try standing($0, now: now, connection)
        }
    }

    /// How a slot stands, from its row.
    static func standing(_ row: DatabaseRow, now: Int64, _ connection: any StoreConnection) throws -> SlotStanding {
        let name = try row.text("name")
        let host = try row.text("host")
        return SlotStanding(
            name: name,
            host: host,
            offer: try offer(row, connection.documents),
            services: try services(slot: name, host: host, connection),
            reservations: try reservations(of: name, now: now, connection),
            openAttempt: try connection.firstRow(
                "SELECT number FROM attempt WHERE slot = ? AND state IN ('assigned', 'running')",
                [.text(name)]
            )?.integer(0).text(RecordID.attempt)
        )
    }

    /// What takes a slot out of use: itself, its host, or the farm.
    static func services(
        slot: String,
        host: String,
        _ connection: any StoreConnection
    ) throws -> [ServiceState] {
        try connection.rows(
            """
            SELECT * FROM service_state
            WHERE (kind = 'slot' AND name = ?) OR (kind = 'host' AND name = ?) OR kind = 'farm'
            """,
            [.text(slot), .text(host)]
        ).map(serviceState)
    }
}

extension Int64 {
    /// The number as an ID.
    fileprivate func text(_ kind: RecordID) -> String { kind.text(self) }
}
