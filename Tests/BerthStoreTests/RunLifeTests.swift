import BerthCore
import BerthStore
import BerthSystem
import Testing

@Suite("Life of a run", .timeLimit(.minutes(5)))
struct RunLifeTests {
    @Test(
        "A run goes from the queue to its verdict, and every view of it tells the same",
        arguments: StoreKind.allCases
    )
    func wholeLife(_ kind: StoreKind) async throws {
        let farm = try await StoreFixture(kind)
        try await farm.addSlot("sim-1", epoch: 41)
        let batch = try await farm.submit(cases: ["fresh-install", "update"])
        #expect(batch.runs.map(\.id) == ["r-1", "r-2"])
        #expect(batch.runs.map(\.buildNames) == [["old", "new"], ["old", "new"]])
        #expect(try await farm.store.counts() == (queued: 2, running: 0))

        let nonce = String(repeating: "ab", count: 16)
        let claimed = try await farm.store.claim(slot: "sim-1", now: 4, nonce: nonce, timeout: 60_000)
        let assignment = try #require(claimed)
        #expect(assignment.epoch == 42)
        #expect(assignment.pins.caseName == "fresh-install")
        #expect(assignment.builds.map(\.description.name) == ["old", "new"])
        #expect(try await farm.store.run(id: "r-1").state == .assigned)
        #expect(try await farm.store.assignment(of: "a-1") == assignment)
        #expect(try await farm.store.slots().map(\.openAttempt) == ["a-1"])

        #expect(try await farm.store.accept(attempt: "a-1", epoch: 41, now: 5) == false)
        #expect(try await farm.store.accept(attempt: "a-1", epoch: 42, now: 5))
        #expect(try await farm.store.accept(attempt: "a-1", epoch: 42, now: 5))
        #expect(try await farm.store.openAttempts().map(\.state) == [.running])
        #expect(try await farm.store.counts() == (queued: 1, running: 1))

        #expect(try await farm.end(assignment, .passed, host: "beta") == .unknown)
        #expect(try await farm.end(assignment, .passed) == .recorded)
        let run = try await farm.store.run(id: "r-1")
        #expect(run.state == .finished)
        #expect(run.verdict == .passed)
        #expect(run.attempts.map(\.outcome) == [.passed])
        #expect(run.attempts.first?.checks.map(\.state) == [.held])
        #expect(try await farm.store.accept(attempt: "a-1", epoch: 42, now: 8) == false)
        #expect(try await farm.store.openAttempts().isEmpty)

        let (entries, head) = try await farm.store.ledger(.simulator)
        #expect(entries.map(\.attempt) == ["a-1"])
        #expect(entries.first?.deciding == true)
        #expect(try await farm.verifiedHead() == head)
        #expect(try await farm.store.ledgerHead(.hardware).length == 0)
    }

    @Test(
        "An attempt without proof is repeated, elsewhere if possible, until the limit makes the run unproven",
        arguments: StoreKind.allCases
    )
    func retries(_ kind: StoreKind) async throws {
        let farm = try await StoreFixture(kind)
        try await farm.addSlot("alpha-1")
        try await farm.addSlot("beta-1", host: "beta")
        _ = try await farm.submit(repeats: 2)

        let first = try #require(try await farm.start("alpha-1"))
        #expect(first.run == "r-1")
        try await farm.end(first, .errored)
        // r-1 is older, but erred on this host; r-2 has not.
        let second = try #require(try await farm.start("alpha-1"))
        #expect(second.run == "r-2")
        let third = try #require(try await farm.start("beta-1"))
        #expect(third.run == "r-1")
        try await farm.end(second, .failed)
        try await farm.end(third, .void, host: "beta")
        // Nothing else waits, so the host that erred last may try again.
        let fourth = try #require(try await farm.start("beta-1"))
        #expect(fourth.run == "r-1")
        #expect(
            try await farm.store.giveUp(
                attempt: fourth.attempt,
                epoch: fourth.epoch,
                cause: OutcomeCause("lease-ran-out", "no heartbeat"),
                now: 9
            )
        )
        let fifth = try #require(try await farm.start("alpha-1"))
        try await farm.end(fifth, .errored)
        let sixth = try #require(try await farm.start("beta-1"))
        try await farm.end(sixth, .errored, host: "beta")
        let runs = try await farm.store.runs(batch: "b-1")
        #expect(runs.map(\.verdict) == [.unproven, .failed])
        #expect(runs.first?.attempts.map(\.outcome) == [.errored, .void, .lost, .errored, .errored])
        #expect(try await farm.start("alpha-1") == nil)
        let entries = try await farm.store.ledger(.simulator).entries
        #expect(entries.filter(\.deciding).map(\.run) == ["r-2"])
        #expect(entries.contains { $0.cause?.code == "lease-ran-out" })
        #expect(try await farm.verifiedHead().length == 6)
    }

    @Test("A declined attempt leaves no entry, and its epoch is never used again", arguments: StoreKind.allCases)
    func declined(_ kind: StoreKind) async throws {
        let farm = try await StoreFixture(kind)
        try await farm.addSlot("sim-1")
        _ = try await farm.submit()
        let nonce = String(repeating: "cd", count: 16)
        let first = try #require(try await farm.store.claim(slot: "sim-1", now: 4, nonce: nonce, timeout: 1))
        try await farm.store.decline(
            attempt: first.attempt,
            epoch: first.epoch,
            cause: OutcomeCause("stale-epoch", "this device has seen 90"),
            now: 5
        )
        #expect(try await farm.store.run(id: first.run).state == .queued)
        #expect(try await farm.store.ledgerHead(.simulator).length == 0)
        try await farm.addSlot("sim-1", epoch: 90)
        try await farm.addSlot("sim-1", epoch: 3)
        let second = try #require(try await farm.start("sim-1"))
        #expect(second.epoch == 91)
        #expect(
            try await farm.store.decline(
                attempt: second.attempt,
                epoch: second.epoch,
                cause: OutcomeCause("busy", "too late"),
                now: 6
            ) == false
        )
        #expect(try await farm.store.run(id: second.run).state == .running)
    }

    @Test("Equal pins that passed and failed make the later run flaky, across batches", arguments: StoreKind.allCases)
    func flaky(_ kind: StoreKind) async throws {
        let farm = try await StoreFixture(kind)
        try await farm.addSlot("sim-1")
        for (outcome, verdict) in [(Outcome.failed, RunVerdict.failed), (.passed, .flaky), (.failed, .flaky)] {
            let batch = try await farm.submit()
            try await farm.end(try #require(try await farm.start("sim-1")), outcome)
            #expect(try await farm.store.batch(id: batch.id).runs.map(\.verdict) == [verdict])
        }
        _ = try await farm.submit(cases: ["restart"])
        try await farm.end(try #require(try await farm.start("sim-1")), .passed)
        #expect(try await farm.store.run(id: "r-4").verdict == .passed)
    }

    @Test("A pass on another system than the pinned one proves nothing", arguments: StoreKind.allCases)
    func otherSystem(_ kind: StoreKind) async throws {
        let farm = try await StoreFixture(kind)
        try await farm.addSlot("sim-1")
        _ = try await farm.submit()
        let assignment = try #require(try await farm.start("sim-1"))
        try await farm.end(assignment, .passed, os: OSPin(version: "18.1", build: "22B1"))
        let entry = try #require(try await farm.store.ledger(.simulator).entries.first)
        #expect(entry.outcome == .void)
        #expect(entry.cause?.code == "device-changed")
        #expect(try await farm.store.run(id: assignment.run).state == .queued)
    }

    @Test("Cancelling ends what waits at once and what runs with its attempt", arguments: StoreKind.allCases)
    func cancelled(_ kind: StoreKind) async throws {
        let farm = try await StoreFixture(kind)
        try await farm.addSlot("sim-1")
        try await farm.addSlot("sim-2")
        let batch = try await farm.submit(repeats: 3)
        let first = try #require(try await farm.start("sim-1"))
        let second = try #require(try await farm.start("sim-2"))
        let told = try await farm.store.cancelBatch(batch.id, now: 6)
        #expect(told.map(\.attempt) == [first.attempt, second.attempt])
        #expect(try await farm.store.runs(batch: batch.id).map(\.state) == [.running, .running, .cancelled])
        try await farm.end(first, .cancelled)
        // The result was faster than the word that it is not wanted: what is proved is proved.
        try await farm.end(second, .passed)
        #expect(try await farm.store.runs(batch: batch.id).map(\.verdict) == [.cancelled, .passed, .cancelled])
        #expect(try await farm.store.cancelBatch(batch.id, now: 8).isEmpty)
    }
}
