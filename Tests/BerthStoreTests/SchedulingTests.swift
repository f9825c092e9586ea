import BerthCore
import BerthStore
import BerthSystem
import Testing

@Suite("Scheduling", .timeLimit(.minutes(5)))
struct SchedulingTests {
    @Test(
        "A part out of use takes nothing, and says who took it out; resumed it goes on",
        arguments: StoreKind.allCases
    )
    func outOfUse(_ kind: StoreKind) async throws {
        let farm = try await StoreFixture(kind)
        try await farm.addSlot("sim-1")
        let batch = try await farm.submit(repeats: 2)
        for scope in [ServiceScope.slot("sim-1"), .host("alpha"), .farm] {
            let reason = "new cable"
            _ = try await farm.store.takeOutOfUse(scope, .maintenance, reason: reason, actor: "kim", now: 5)
            #expect(try await farm.start("sim-1") == nil)
            let survey = try await farm.store.survey(run: batch.runs[0].id, now: 6)
            let obstacles = survey.slots.flatMap { Eligibility.obstacles(survey.standing, $0) }
            #expect(obstacles.count == 1)
            #expect(obstacles.first?.description.contains("maintenance by kim: new cable") == true)
            #expect(try await farm.store.resume(scope, actor: "kim", now: 7)?.reason == reason)
            #expect(try await farm.store.resume(scope, actor: "kim", now: 7) == nil)
        }
        let running = try #require(try await farm.start("sim-1"))
        _ = try await farm.store.takeOutOfUse(.slot("sim-1"), .drained, reason: "later", actor: "kim", now: 8)
        // The current attempt ends as always.
        #expect(try await farm.end(running, .passed) == .recorded)
        #expect(try await farm.start("sim-1") == nil)
        await #expect(throws: StoreError.unknownSlot(name: "sim-9")) {
            try await farm.store.takeOutOfUse(.slot("sim-9"), .drained, reason: "", actor: "kim", now: 8)
        }
    }

    @Test("A reserved slot is its holder's until the time is up", arguments: StoreKind.allCases)
    func reserved(_ kind: StoreKind) async throws {
        let farm = try await StoreFixture(kind)
        try await farm.addSlot("sim-1")
        let early = try await farm.submit(repeats: 2)
        let release = try await farm.submit()
        func reserve(batch: String?, label: String?, until: Int64) async throws -> Reservation {
            try await farm.store.reserve(
                slot: "sim-1",
                batch: batch,
                label: label,
                until: until,
                reason: "release 7",
                actor: "kim",
                now: 1
            )
        }
        let first = try await reserve(batch: release.id, label: nil, until: 1000)
        let assignment = try #require(try await farm.start("sim-1"))
        #expect(assignment.run == release.runs[0].id)
        try await farm.end(assignment, .passed)
        #expect(try await farm.start("sim-1") == nil)
        #expect(try await farm.store.endReservation(first.id, actor: "kim", now: 9))
        #expect(try await farm.store.endReservation(first.id, actor: "kim", now: 9) == false)

        _ = try await reserve(batch: nil, label: "model:Phone", until: 50)
        #expect(try await farm.start("sim-1") == nil)
        let op = try await farm.operation()
        let labelled = SubmitOp(
            submitter: "ci",
            idempotencyKey: nil,
            runs: op.runs.map { SubmittedRun(pins: $0.pins, labels: ["model": "Phone"]) },
            priority: 0,
            now: 3
        )
        let wanted = try await farm.store.submit(labelled).batch
        let second = try #require(try await farm.start("sim-1"))
        #expect(second.run == wanted.runs[0].id)
        try await farm.end(second, .passed)
        // A second reservation, for another batch, lets in that batch and nothing else of the same lane.
        let late = try await farm.submit()
        _ = try await reserve(batch: late.id, label: nil, until: 50)
        let third = try #require(try await farm.start("sim-1"))
        #expect(third.run == late.runs[0].id)
        try await farm.end(third, .passed)
        #expect(try await farm.start("sim-1") == nil)
        let nonce = Hex.encode(RandomBytes.make(16))
        let later = try await farm.store.claim(slot: "sim-1", now: 51, nonce: nonce, timeout: 1)
        #expect(later?.run == early.runs[0].id)
        #expect(try await farm.store.reservations(now: 51).isEmpty)
    }

    @Test("Limits hold submitters and labels back, and nobody else", arguments: StoreKind.allCases)
    func limits(_ kind: StoreKind) async throws {
        let farm = try await StoreFixture(kind)
        for number in 1...3 { try await farm.addSlot("sim-\(number)") }
        _ = try await farm.submit(repeats: 2)
        try await farm.store.setLimit(.submitter, "ci", most: 1, actor: "kim", now: 9)
        let first = try #require(try await farm.start("sim-1"))
        #expect(try await farm.start("sim-2") == nil)
        let op = try await farm.operation()
        let other = SubmitOp(submitter: "lee", idempotencyKey: nil, runs: op.runs, priority: 0, now: 3)
        let batch = try await farm.store.submit(other).batch
        #expect(try await farm.start("sim-2")?.run == batch.runs[0].id)
        #expect(
            try await farm.store.limits() == [.init(limit: .init(subject: .submitter, name: "ci", most: 1), open: 1)]
        )
        try await farm.end(first, .passed)
        #expect(try await farm.start("sim-3") != nil)
        await #expect(throws: StoreError.self) {
            try await farm.store.setLimit(.label, "nothing", most: 1, actor: "kim", now: 9)
        }
    }

    @Test(
        "Past its deadline a batch ends: what waits at once, what runs with its attempt",
        arguments: StoreKind.allCases
    )
    func deadline(_ kind: StoreKind) async throws {
        let farm = try await StoreFixture(kind)
        try await farm.addSlot("sim-1")
        let runs = try await farm.operation(repeats: 3).runs
        let op = SubmitOp(submitter: "ci", idempotencyKey: nil, runs: runs, priority: 0, deadline: 100, now: 3)
        let batch = try await farm.store.submit(op).batch
        let running = try #require(try await farm.start("sim-1"))
        #expect(try await farm.store.expire(now: 99).batches.isEmpty)
        let (open, batches) = try await farm.store.expire(now: 100)
        #expect(open.map(\.attempt) == [running.attempt] && batches == [batch.id])
        #expect(try await farm.store.expire(now: 101).batches.isEmpty)
        try await farm.end(running, .cancelled)
        let ended = try await farm.store.runs(batch: batch.id)
        #expect(ended.map(\.verdict) == [.expired, .expired, .expired])
        await #expect(throws: StoreError.self) {
            let late = SubmitOp(submitter: "ci", idempotencyKey: nil, runs: runs, priority: 0, deadline: 3, now: 3)
            _ = try await farm.store.submit(late)
        }
    }

    @Test(
        "Too many attempts in a row without proof quarantine a slot; a passed health check brings it back",
        arguments: StoreKind.allCases
    )
    func quarantine(_ kind: StoreKind) async throws {
        let farm = try await StoreFixture(kind)
        try await farm.addSlot("sim-1")
        _ = try await farm.submit(repeats: 6)
        try await farm.end(try #require(try await farm.start("sim-1")), .passed)
        for _ in 0..<3 { try await farm.end(try #require(try await farm.start("sim-1")), .errored) }
        #expect(try await farm.start("sim-1") == nil)
        let service = try #require(try await farm.store.services().first)
        #expect(service.state == .quarantined && service.reason.contains("3 attempts in a row"))
        #expect(try await farm.store.dueHealthChecks(now: service.since).isEmpty)
        let due = service.since + Store.healthCheckPause
        let check = try #require(try await farm.store.dueHealthChecks(now: due).first)
        #expect(check.slot == "sim-1" && check.pins.path == [farm.old, farm.new])
        #expect(try await farm.store.dueHealthChecks(now: due).isEmpty)
        let runs = [SubmittedRun(pins: check.pins, labels: ["slot": "sim-1"])]
        let submitter = Eligibility.healthCheckSubmitter
        let op = SubmitOp(submitter: submitter, idempotencyKey: nil, runs: runs, priority: 0, now: due)
        let batch = try await farm.store.submit(op).batch
        let attempt = try #require(try await farm.start("sim-1"))
        #expect(attempt.run == batch.runs[0].id)
        try await farm.end(attempt, .passed)
        #expect(try await farm.store.services().isEmpty)
        #expect(try await farm.start("sim-1") != nil)
        // It says nothing of the builds, and marks itself so.
        let entries = try await farm.store.ledger(.simulator).entries
        #expect(entries.last?.purpose == LedgerEntry.healthCheck && entries.first?.purpose == nil)
    }

    @Test("A failed health check makes no run flaky", arguments: StoreKind.allCases)
    func healthCheckIsNoEvidence(_ kind: StoreKind) async throws {
        let farm = try await StoreFixture(kind)
        try await farm.addSlot("sim-1")
        let runs = try await farm.operation().runs
        let op = SubmitOp(
            submitter: Eligibility.healthCheckSubmitter,
            idempotencyKey: nil,
            runs: runs,
            priority: 0,
            now: 3
        )
        _ = try await farm.store.submit(op)
        try await farm.end(try #require(try await farm.start("sim-1")), .failed)
        let batch = try await farm.submit()
        try await farm.end(try #require(try await farm.start("sim-1")), .passed)
        #expect(try await farm.store.run(id: batch.runs[0].id).verdict == .passed)
    }

    @Test("A slot that an operator has taken out of use is not quarantined over it", arguments: StoreKind.allCases)
    func quarantineLeavesADrain(_ kind: StoreKind) async throws {
        let farm = try await StoreFixture(kind)
        try await farm.addSlot("sim-1")
        _ = try await farm.submit(repeats: 8)
        for _ in 0..<2 { try await farm.end(try #require(try await farm.start("sim-1")), .errored) }
        let last = try #require(try await farm.start("sim-1"))
        let drained = try await farm.store.takeOutOfUse(
            .slot("sim-1"),
            .drained,
            reason: "new cable",
            actor: "kim",
            now: 6
        )
        try await farm.end(last, .errored)
        #expect(try await farm.store.services() == [drained])
        // So nothing that passes afterwards brings it back, and no health check is made.
        #expect(try await farm.store.dueHealthChecks(now: 7 + Store.healthCheckPause).isEmpty)
        #expect(try await farm.start("sim-1") == nil)
        #expect(try await farm.store.audit(limit: 10).map(\.action) == ["drained"])
        _ = try await farm.store.resume(.slot("sim-1"), actor: "kim", now: 8)
        #expect(try await farm.start("sim-1") != nil)
    }

    @Test(
        "A slot that declines again and again for reasons of its own is quarantined, one that is busy is not",
        arguments: StoreKind.allCases
    )
    func declines(_ kind: StoreKind) async throws {
        let farm = try await StoreFixture(kind)
        try await farm.addSlot("sim-1")
        _ = try await farm.submit()
        func decline(_ code: String) async throws {
            let nonce = Hex.encode(RandomBytes.make(16))
            let claimed = try await farm.store.claim(slot: "sim-1", now: 4, nonce: nonce, timeout: 60_000)
            guard let assignment = claimed else { throw StoreError.unknownSlot(name: "sim-1") }
            try await farm.store.decline(
                attempt: assignment.attempt,
                epoch: assignment.epoch,
                cause: .init(code, "no blob"),
                now: 5
            )
        }
        for _ in 0..<10 { try await decline("busy") }
        for _ in 0..<4 { try await decline("build-missing") }
        #expect(try await farm.store.services().isEmpty)
        // One that is taken sets it right again.
        try await farm.end(try #require(try await farm.start("sim-1")), .passed)
        _ = try await farm.submit()
        for _ in 0..<5 { try await decline("build-missing") }
        #expect(try await farm.start("sim-1") == nil)
        let service = try #require(try await farm.store.services().first)
        #expect(service.state == .quarantined && service.scope == .slot("sim-1"))
        #expect(service.reason.contains("5 assignments in a row") && service.reason.contains("build-missing"))
        #expect(try await farm.store.dueHealthChecks(now: 5 + Store.healthCheckPause).map(\.slot) == ["sim-1"])
        _ = try await farm.store.resume(.slot("sim-1"), actor: "kim", now: 9)
        try await decline("build-missing")
        #expect(try await farm.store.services().isEmpty, "the count begins anew")
    }

    @Test("What is to blame decides how often it is tried again", arguments: StoreKind.allCases)
    func retries(_ kind: StoreKind) async throws {
        let farm = try await StoreFixture(kind)
        try await farm.addSlot("sim-1")
        let refused = try await farm.submit()
        try await farm.end(try #require(try await farm.start("sim-1")), .errored, cause: "build-refused")
        #expect(try await farm.store.run(id: refused.runs[0].id).verdict == .unproven)
        let stopped = try await farm.submit()
        for number in 1...5 {
            #expect(try await farm.store.run(id: stopped.runs[0].id).verdict == nil, "\(number)")
            try await farm.end(try #require(try await farm.start("sim-1")), .errored, cause: "agent-stopped")
        }
        #expect(try await farm.store.run(id: stopped.runs[0].id).verdict == .unproven)
        // Hosts and agents that go away are nothing against the slot.
        #expect(try await farm.store.services().isEmpty)
    }

    @Test("All of a submitter is cancelled, and nothing of others", arguments: StoreKind.allCases)
    func cancelSubmitter(_ kind: StoreKind) async throws {
        let farm = try await StoreFixture(kind)
        try await farm.addSlot("sim-1")
        _ = try await farm.submit(repeats: 3)
        let runs = try await farm.operation().runs
        let other = SubmitOp(submitter: "lee", idempotencyKey: nil, runs: runs, priority: 0, now: 3)
        _ = try await farm.store.submit(other)
        let running = try #require(try await farm.start("sim-1"))
        let (open, count, batches) = try await farm.store.cancelSubmitter("ci", now: 9)
        #expect(open.map(\.attempt) == [running.attempt] && count == 3 && batches == ["b-1"])
        #expect(try await farm.store.counts() == (queued: 1, running: 1))
    }
}
