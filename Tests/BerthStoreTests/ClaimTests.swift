import BerthCore
import BerthStore
import BerthSystem
import SQLiteDatabase
import Testing

@Suite("Claims", .timeLimit(.minutes(5)))
struct ClaimTests {
    @Test(
        "32 claimers at once, each asking four times: every run goes to exactly one slot",
        arguments: StoreKind.allCases
    )
    func exclusive(_ kind: StoreKind) async throws {
        let farm = try await StoreFixture(kind)
        let slots = (1...32).map { "sim-\($0)" }
        for slot in slots { try await farm.addSlot(slot) }
        _ = try await farm.submit(repeats: 24)
        let claims = try await withThrowingTaskGroup(of: (String, Assignment?).self) { group in
            for slot in slots + slots + slots + slots {
                group.addTask {
                    let nonce = Hex.encode(RandomBytes.make(16))
                    return (slot, try await farm.store.claim(slot: slot, now: 4, nonce: nonce, timeout: 1))
                }
            }
            return try await group.reduce(into: [String: Set<Assignment?>]()) { $0[$1.0, default: []].insert($1.1) }
        }
        // Whoever asks again gets the very same attempt, with the same nonce.
        #expect(claims.values.allSatisfy { $0.count == 1 })
        let assignments = claims.values.compactMap { $0.first ?? nil }
        #expect(Set(assignments.map(\.run)).count == 24)
        #expect(assignments.count == 24)
        #expect(try await farm.store.counts() == (queued: 0, running: 24))
    }

    @Test("Higher priority first, then age; only runs that the slot's system can take", arguments: StoreKind.allCases)
    func order(_ kind: StoreKind) async throws {
        let farm = try await StoreFixture(kind)
        try await farm.addSlot("other", os: OSPin(version: "17.0", build: "21A1"))
        let low = try await farm.submit(repeats: 2)
        let high = try await farm.submit(priority: 5)
        #expect(try await farm.start("other") == nil)
        // Slots that come after the submission are matched too, and an agent may bring another system later.
        try await farm.addSlot("other")
        try await farm.addSlot("sim-1")
        try await farm.addSlot("sim-2")
        #expect(try await farm.start("sim-1")?.run == high.runs.first?.id)
        #expect(try await farm.start("other")?.run == low.runs.first?.id)
        #expect(try await farm.start("sim-2")?.run == low.runs.last?.id)
        await #expect(throws: StoreError.unknownSlot(name: "nowhere")) { try await farm.start("nowhere") }
    }

    @Test(
        "Labels: a run goes only to slots that have all of them, whichever came first, and they are no pins",
        arguments: StoreKind.allCases
    )
    func labels(_ kind: StoreKind) async throws {
        let farm = try await StoreFixture(kind)
        try await farm.addSlot("sim-1", host: "alpha")
        try await farm.addSlot("sim-2", host: "beta")
        func submit(_ labels: [String: String]) async throws -> RunView {
            let op = try await farm.operation()
            let runs = op.runs.map { SubmittedRun(pins: $0.pins, labels: labels) }
            let labelled = SubmitOp(submitter: "ci", idempotencyKey: nil, runs: runs, priority: 0, now: 3)
            return try #require(try await farm.store.submit(labelled).batch.runs.first)
        }
        let beta = try await submit(["host": "beta", "model": "Phone"])
        let nowhere = try await submit(["host": "beta", "model": "Tablet"])
        let third = try await submit(["slot": "sim-3"])
        let plain = try await farm.submit()
        #expect(try await farm.store.run(id: beta.id).labels == ["host": "beta", "model": "Phone"])
        #expect(try await farm.store.run(id: nowhere.id).pins == plain.runs.first?.pins)
        #expect(try await farm.start("sim-1")?.run == plain.runs.first?.id)
        #expect(try await farm.start("sim-2")?.run == beta.id)
        try await farm.addSlot("sim-3")
        #expect(try await farm.start("sim-3")?.run == third.id)
        try await farm.addSlot("sim-4", host: "beta")
        #expect(try await farm.start("sim-4") == nil)
        #expect(
            try await farm.store.osVersions(platform: .linuxSimulated, labels: ["host": "beta"]) == [StoreFixture.os]
        )
        #expect(try await farm.store.osVersions(platform: .linuxSimulated, labels: ["host": "gamma"]).isEmpty)
    }

    @Test("A device takes one attempt, even when two slots claim to have it", arguments: StoreKind.allCases)
    func oneDevice(_ kind: StoreKind) async throws {
        let farm = try await StoreFixture(kind)
        try await farm.addSlot("sim-1", device: "shared")
        try await farm.addSlot("sim-2", device: "shared")
        _ = try await farm.submit(repeats: 2)
        let first = try #require(try await farm.start("sim-1"))
        #expect(try await farm.start("sim-2") == nil)
        try await farm.end(first, .passed)
        #expect(try await farm.start("sim-2")?.epoch == first.epoch + 1)
        await #expect(throws: StoreError.slotOfOtherHost(slot: "sim-1", host: "alpha")) {
            try await farm.addSlot("sim-1", host: "beta")
        }
    }

    @Test(
        "Runs that came back let others go first, but a claim does not pass over all that wait",
        arguments: StoreKind.allCases
    )
    func lookahead(_ kind: StoreKind) async throws {
        let farm = try await StoreFixture(kind)
        try await farm.addSlot("sim-1")
        let runs = try await farm.submit(repeats: Store.lookahead + 2).runs.map(\.id)
        func claimAndDecline() async throws -> String {
            let nonce = String(repeating: "0", count: 32)
            let assignment = try #require(
                try await farm.store.claim(slot: "sim-1", now: 4, nonce: nonce, timeout: 60_000)
            )
            let cause = OutcomeCause("busy", "it executes another attempt")
            try await farm.store.decline(
                attempt: assignment.attempt,
                epoch: assignment.epoch,
                cause: cause,
                now: 5
            )
            return assignment.run
        }
        for run in runs.prefix(Store.lookahead) { #expect(try await claimAndDecline() == run) }
        #expect(try await claimAndDecline() == runs.first)
    }

    @Test("A claim seeks in the queue's index instead of reading the queue")
    func indexed() async throws {
        let farm = try await StoreFixture()
        let connection = try DatabaseConnection(path: farm.path)
        func plan(_ query: String, _ parameters: [DatabaseValue]) throws -> [String] {
            try connection.rows("EXPLAIN QUERY PLAN " + query, parameters).map { try $0.text("detail") }
        }
        let lanes = try plan(Store.lanesQuery, ["sim-1"])
        #expect(lanes.contains { $0.contains("run_queue (lane=?)") })
        let next = try plan(Store.nextInLaneQuery(.sqlite), [1, "alpha"])
        #expect(next.contains("SEARCH run USING COVERING INDEX run_queue (lane=?)"))
        let ofBatch = try plan(Store.nextOfBatchQuery, [1, 1, "alpha"])
        #expect(ofBatch.first == "SEARCH run USING INDEX run_queue (lane=? AND number>? AND number<?)")
        for step in lanes + next + ofBatch { #expect(!step.hasPrefix("SCAN run") && !step.contains("TEMP B-TREE")) }
    }

    @Test(
        "Submitters take turns, whoever came first with how much; who comes later gets no more",
        arguments: StoreKind.allCases
    )
    func fairShare(_ kind: StoreKind) async throws {
        let farm = try await StoreFixture(kind)
        try await farm.addSlot("sim-1")
        func submit(_ submitter: String, _ repeats: Int, priority: Int = 0) async throws {
            let op = try await farm.operation(repeats: repeats)
            _ = try await farm.store.submit(
                SubmitOp(submitter: submitter, idempotencyKey: nil, runs: op.runs, priority: priority, now: 3)
            )
        }
        var served: [String] = []
        func serve(_ count: Int) async throws {
            for _ in 0..<count {
                let assignment = try #require(try await farm.start("sim-1"))
                let batch = try await farm.store.run(id: assignment.run).batch
                served.append(try await farm.store.batch(id: batch).submitter)
                try await farm.end(assignment, .failed)
            }
        }
        try await submit("nightly", 20)
        try await serve(4)
        try await submit("ci", 4)
        try await serve(4)
        try await submit("engineer", 1, priority: 1)
        try await serve(5)
        #expect(served.prefix(4).allSatisfy { $0 == "nightly" })
        #expect(served[4..<8].filter { $0 == "ci" }.count == 2)
        #expect(served[8] == "engineer")
        #expect(served[9..<13].filter { $0 == "ci" }.count == 2)
    }

    @Test("What waits long rises above what keeps coming with a higher priority", arguments: StoreKind.allCases)
    func noStarvation(_ kind: StoreKind) async throws {
        let farm = try await StoreFixture(kind)
        try await farm.addSlot("sim-1")
        let low = try await farm.submit()
        _ = try await farm.submit(repeats: 3, priority: 2)
        func claim(_ now: Int64) async throws -> Assignment {
            let nonce = Hex.encode(RandomBytes.make(16))
            let claimed = try await farm.store.claim(slot: "sim-1", now: now, nonce: nonce, timeout: 1)
            let assignment = try #require(claimed)
            try await farm.end(assignment, .failed)
            return assignment
        }
        #expect(try await claim(4).run != low.runs[0].id)
        let late = SubmitOp(
            submitter: "other",
            idempotencyKey: nil,
            runs: try await farm.operation().runs,
            priority: 2,
            now: 4 * SchedulingOrder.patience
        )
        _ = try await farm.store.submit(late)
        // The two of high priority have risen as well; the newcomer has not.
        _ = try await claim(4 * SchedulingOrder.patience)
        _ = try await claim(4 * SchedulingOrder.patience)
        #expect(try await claim(4 * SchedulingOrder.patience).run == low.runs[0].id)
    }
}
