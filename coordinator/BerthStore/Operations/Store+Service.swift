import BerthCore
import SQLiteDatabase

/// Taking parts of the farm out of use, and back.
extension Store {
    /// After so many attempts in a row that speak against a slot it is quarantined.
    package static let failureLimit: Int64 = 3
    /// After so many assignments in a row that it declined for reasons of its own a slot is quarantined.
    package static let declineLimit: Int64 = 5
    /// How long a quarantined slot waits from one health check to the next, in milliseconds.
    package static let healthCheckPause: Int64 = 10 * 60 * 1000

    /// What is to show whether a quarantined slot works again.
    package struct HealthCheck: Sendable {
        package let slot: String
        package let pins: Pins
        /// Names this check, so that it is submitted once.
        package let key: String
    }

    /// Takes a part of the farm out of use; what runs there goes on to its end.
    /// - Throws: `StoreError.unknownHost`, `.unknownSlot`
    package func takeOutOfUse(
        _ scope: ServiceScope,
        _ state: ServiceState.State,
        reason: String,
        actor: String,
        now: Int64
    ) async throws(StoreError) -> ServiceState {
        try await change("take \(scope) out of use", order: .admission) { connection in
            try connection.holdExclusively(.admission)
            try Self.requireKnown(scope, connection)
            let service = ServiceState(scope: scope, state: state, reason: reason, actor: actor, since: now)
            try Self.put(service, replaces: true, connection)
            try Self.enterAudit(state.rawValue, "\(scope)", ["reason": reason], actor: actor, now: now, connection)
            try connection.announce(.hosts)
            return service
        }
    }

    /// Puts a part of the farm back into use.
    /// - Returns: what it was out of use for; nil if it was in use.
    /// - Throws: `StoreError.unknownHost`, `.unknownSlot`
    package func resume(_ scope: ServiceScope, actor: String, now: Int64) async throws(StoreError) -> ServiceState? {
        try await change("resume \(scope)") { connection in
            try Self.requireKnown(scope, connection)
            let row = try connection.firstRow(
                "DELETE FROM service_state WHERE kind = ? AND name = ? RETURNING *",
                [.text(scope.kind), .text(scope.name)]
            )
            if case .slot(let name) = scope {
                try connection.execute("UPDATE slot SET failures = 0, declines = 0 WHERE name = ?", [.text(name)])
            }
            let former = try row.map(Self.serviceState)
            if let former {
                let details = ["former": former.state.rawValue, "reason": former.reason]
                try Self.enterAudit("resumed", "\(scope)", details, actor: actor, now: now, connection)
            }
            try connection.announce(.hosts)
            try connection.announce(.work)
            return former
        }
    }

    /// All parts that are out of use.
    package func services() async throws(StoreError) -> [ServiceState] {
        try await look("list what is out of use") { connection in
            try connection.rows("SELECT * FROM service_state ORDER BY kind, name").map(Self.serviceState)
        }
    }

    /// Quarantined slots that are due for a health check, each with pins that passed on its platform and system before.
    /// Marks them as checked, so that one coordinator does it, and gives each check a key of its own.
    package func dueHealthChecks(now: Int64) async throws(StoreError) -> [HealthCheck] {
        try await change("look for slots to be checked") { connection in
            let due = try connection.rows(
                """
                SELECT slot.*, service_state.since, coalesce(service_state.checked_at, service_state.since) AS last
                FROM service_state JOIN slot ON slot.name = service_state.name
                WHERE service_state.kind = 'slot' AND service_state.state = 'quarantined'
                    AND coalesce(service_state.checked_at, service_state.since) <= ?
                """,
                [.integer(now - Self.healthCheckPause)]
            )
            var checks: [HealthCheck] = []
            for slot in due {
                let name = try slot.text("name")
                let last = try slot.integer("last")
                let isMine = try connection.execute(
                    """
                    UPDATE service_state SET checked_at = ? WHERE kind = 'slot' AND name = ? AND state = 'quarantined'
                        AND coalesce(checked_at, since) = ?
                    """,
                    [.integer(now), .text(name), .integer(last)]
                )
                guard isMine == 1 else { continue }
                let waits = try connection.firstRow(
                    """
                    SELECT 1 FROM lane JOIN requirement_class AS class ON class.number = lane.class
                    WHERE lane.submitter = ? AND lane.waiting > 0 AND class.labels = ? LIMIT 1
                    """,
                    [.text(Eligibility.healthCheckSubmitter), try .json(["slot": name])]
                )
                guard waits == nil else { continue }
                let offer = try Self.offer(slot, connection.documents)
                let known = try connection.rows(
                    """
                    SELECT pins.bytes FROM ledger_entry JOIN pins ON pins.number = ledger_entry.pins
                    WHERE ledger_entry.ledger = ? AND ledger_entry.outcome = 'passed'
                    ORDER BY ledger_entry.sequence DESC LIMIT 1000
                    """,
                    [.text(offer.platform.kind.rawValue)]
                )
                for row in known {
                    let pins = try row.json(Pins.self, "bytes")
                    guard pins.platform == offer.platform, pins.os == offer.os else { continue }
                    let since = try slot.integer("since")
                    checks.append(HealthCheck(slot: name, pins: pins, key: "\(name) \(since) \(last)"))
                    break
                }
            }
            return checks
        }
    }

    /// Counts how attempts end on a slot: a proof sets it right, too many in a row that speak against it quarantine it.
    static func judgeSlot(
        _ slot: String,
        outcome: Outcome,
        blame: RetryClass?,
        cause: OutcomeCause?,
        now: Int64,
        _ connection: any StoreConnection
    ) throws {
        if outcome.decides {
            try connection.execute("UPDATE slot SET failures = 0 WHERE name = ? AND failures > 0", [.text(slot)])
            // A failure is one of the product perhaps; only a pass shows that the device is in order again.
            guard outcome == .passed else { return }
            let left = try connection.execute(
                "DELETE FROM service_state WHERE kind = 'slot' AND name = ? AND state = 'quarantined'",
                [.text(slot)]
            )
            if left > 0 {
                let details = ["former": ServiceState.State.quarantined.rawValue, "reason": "a run passed on it"]
                try enterAudit("resumed", "slot \(slot)", details, actor: "the scheduler", now: now, connection)
                try connection.announce(.hosts)
            }
            return
        }
        guard let blame, blame.blamesSlot else { return }
        let failures = try connection.firstRow(
            "UPDATE slot SET failures = failures + 1 WHERE name = ? RETURNING failures",
            [.text(slot)]
        )?.integer(0)
        guard let failures, failures >= failureLimit else { return }
        try quarantine(
            slot,
            "\(failures) attempts in a row proved nothing here, the last one: \(cause?.description ?? "no cause")",
            now: now,
            connection
        )
    }

    /// Counts what a slot declines for reasons of its own.
    static func judgeDecline(
        _ slot: String,
        _ cause: OutcomeCause,
        now: Int64,
        _ connection: any StoreConnection
    ) throws {
        guard DeclineBlame.isSlots(cause) else { return }
        let declines = try connection.firstRow(
            "UPDATE slot SET declines = declines + 1 WHERE name = ? RETURNING declines",
            [.text(slot)]
        )?.integer(0)
        guard let declines, declines >= declineLimit else { return }
        try quarantine(
            slot,
            "\(declines) assignments in a row were declined here, the last one: \(cause)",
            now: now,
            connection
        )
    }

    /// Takes a slot out of use until a health check passes, unless it is out of use already.
    private static func quarantine(
        _ slot: String,
        _ reason: String,
        now: Int64,
        _ connection: any StoreConnection
    ) throws {
        let known = try connection.firstRow(
            "SELECT 1 FROM service_state WHERE kind = 'slot' AND name = ?",
            [.text(slot)]
        )
        guard known == nil else { return }
        // The cause is in an agent's words, of whatever length; the audit keeps them for ever.
        let reason = String(String.UnicodeScalarView(reason.unicodeScalars.prefix(1000)))
        // An operator who takes it out of use at the same time goes first: a passed check would undo that.
        let isNew = try put(
            ServiceState(scope: .slot(slot), state: .quarantined, reason: reason, actor: "the scheduler", since: now),
            replaces: false,
            connection
        )
        guard isNew else { return }
        try enterAudit(
            ServiceState.State.quarantined.rawValue,
            "slot \(slot)",
            ["reason": reason],
            actor: "the scheduler",
            now: now,
            connection
        )
        try connection.announce(.hosts)
    }

    /// - Returns: whether it is in force now; without `replaces` what is out of use already stays as it is.
    @discardableResult
    private static func put(
        _ service: ServiceState,
        replaces: Bool,
        _ connection: any StoreConnection
    ) throws -> Bool {
        let conflict =
            replaces
            ? """
            DO UPDATE SET state = excluded.state, reason = excluded.reason,
                actor = excluded.actor, since = excluded.since, checked_at = NULL
            """ : "DO NOTHING"
        return try connection.execute(
            """
            INSERT INTO service_state (kind, name, state, reason, actor, since) VALUES (?, ?, ?, ?, ?, ?)
            ON CONFLICT (kind, name) \(conflict)
            """,
            [
                .text(service.kind), .text(service.name), .text(service.state.rawValue), .text(service.reason),
                .text(service.actor), .integer(service.since),
            ]
        ) > 0
    }

    private static func requireKnown(_ scope: ServiceScope, _ connection: any StoreConnection) throws {
        switch scope {
        case .farm: break
        case .host(let name):
            guard
                try connection.firstRow("SELECT 1 FROM host WHERE name = ? AND removed_at IS NULL", [.text(name)])
                    != nil
            else {
                throw try unknownHost(name, connection)
            }
        case .slot(let name):
            let known = "SELECT 1 FROM slot WHERE name = ? AND \(isOfPresentHost)"
            guard try connection.firstRow(known, [.text(name)]) != nil else {
                throw StoreError.unknownSlot(name: name)
            }
        }
    }

    static func serviceState(_ row: DatabaseRow) throws -> ServiceState {
        guard let scope = ServiceScope(kind: try row.text("kind"), name: try row.text("name")) else {
            throw FormatError(document: "stored service state", problem: "its kind and name do not go together")
        }
        return ServiceState(
            scope: scope,
            state: try row.word(ServiceState.State.self, "state"),
            reason: try row.text("reason"),
            actor: try row.text("actor"),
            since: try row.integer("since")
        )
    }
}
