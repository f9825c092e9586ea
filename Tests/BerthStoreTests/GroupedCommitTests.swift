import BerthCore
import BerthStore
import BerthSystem
import Testing

@Suite("Grouped commits", .timeLimit(.minutes(5)))
struct GroupedCommitTests {
    @Test("Operations that share a commit fail alone, and the others are kept in order", arguments: StoreKind.allCases)
    func failAlone(_ kind: StoreKind) async throws {
        let farm = try await StoreFixture(kind)
        let good = try await farm.operation()
        let stranger = StoreFixture.digest("never archived")
        let bad = SubmitOp(
            submitter: "ci",
            idempotencyKey: nil,
            runs: good.runs.map { run in
                let pins = run.pins
                return SubmittedRun(
                    pins: Pins(
                        path: [farm.old, stranger],
                        caseName: pins.caseName,
                        caseDigest: pins.caseDigest,
                        os: pins.os,
                        platform: pins.platform
                    )
                )
            },
            priority: 0,
            now: 3
        )
        let outcomes = try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<200 {
                group.addTask {
                    do {
                        _ = try await farm.store.submit(number % 4 == 0 ? bad : good)
                        return true
                    } catch StoreError.unknownBuild(let reference, _) {
                        #expect(reference == stranger.description)
                        return false
                    }
                }
            }
            return try await group.reduce(into: [Bool: Int]()) { $0[$1, default: 0] += 1 }
        }
        #expect(outcomes == [true: 150, false: 50])
        #expect(try await farm.store.counts().queued == 150)
        #expect(try await farm.store.batches(limit: 1000).allSatisfy { $0.runs.count == 1 })
    }

    @Test(
        "What waits when the store is closed is still done; what comes later is refused",
        arguments: StoreKind.allCases
    )
    func closing(_ kind: StoreKind) async throws {
        let farm = try await StoreFixture(kind)
        let op = try await farm.operation()
        let submissions = (0..<40).map { _ in Task { try? await farm.store.submit(op).batch.id } }
        while try await farm.store.counts().queued < 5 { await Task.yield() }
        await farm.store.close()
        var done = 0
        for submission in submissions where await submission.value != nil { done += 1 }
        let reopened = try await farm.reopen()
        #expect(try await reopened.counts().queued == done)
        await #expect(throws: StoreError.closed(operation: "submit a batch")) { try await farm.store.submit(op) }
    }
}
