import BerthArchive
import BerthCoordinator
import BerthCore
import BerthStore
import BerthSystem
import BerthTestSupport
import Foundation
import Synchronization
import Testing

/// What cannot be written down for one slot concerns that slot alone.
@Suite(.timeLimit(.minutes(5)))
struct SlotTroubleTests {
    /// Heartbeats of slots, each vouching for the attempt that was set last.
    private final class Hearts: Sendable {
        private let running = Mutex<[String: AttemptReference]>([:])

        func vouch(_ slot: String, _ assignment: Assignment?) {
            running.withLock {
                $0[slot] = assignment.map { AttemptReference(attempt: $0.attempt, epoch: $0.epoch) }
            }
        }

        /// Beats until the task is cancelled.
        func beat(_ slots: [String], _ host: StandInHost) async throws {
            while !Task.isCancelled {
                for slot in slots {
                    let reference = running.withLock { $0[slot] }
                    try host.say(.heartbeat(Heartbeat(sequence: 1, running: reference)), route: slot)
                }
                try await Task.sleep(for: .milliseconds(50))
            }
        }
    }

    private func withHearts(
        _ fixture: FarmFixture,
        _ slots: [String],
        _ body: (Hearts) async throws -> Void
    ) async throws {
        let hearts = Hearts()
        let beating = Task { try await hearts.beat(slots, fixture.host) }
        defer { beating.cancel() }
        try await body(hearts)
    }

    private func accept(_ assignment: Assignment, _ slot: String, _ fixture: FarmFixture) throws {
        try fixture.host.say(
            .accepted(AttemptReference(attempt: assignment.attempt, epoch: assignment.epoch)),
            route: slot
        )
    }

    private func isAcknowledged(_ assignment: Assignment, _ slot: String, _ fixture: FarmFixture) -> Bool {
        fixture.host.messages(to: slot).contains(
            .recorded(Acknowledgement(attempt: assignment.attempt, epoch: assignment.epoch, filing: .recorded))
        )
    }

    private func checkAllPassedOnce(_ batch: BatchView, _ fixture: FarmFixture) async throws {
        let ledger = try await fixture.store.ledger(.simulator)
        #expect(ledger.entries.map(\.outcome) == batch.runs.map { _ in .passed })
        #expect(Set(ledger.entries.map(\.run)) == Set(batch.runs.map(\.id)))
        for run in batch.runs {
            let now = try await fixture.store.run(id: run.id)
            #expect(now.verdict == .passed && now.attempts.count == 1, "\(now.attempts.map(\.cause))")
        }
        #expect(fixture.host.connections == 1)
    }

    @Test func aStoreThatIsBlockedForOneSlotStopsNoHeartbeatAndNoOtherSlot() async throws {
        let server = try await TestPostgresServer.started()
        let database = try await server.makeDatabase()
        try await FarmFixture.with(lease: .seconds(5), postgres: database) { fixture in
            let batch = try await fixture.submit(runs: 2)
            try await fixture.host.greet()
            try fixture.host.join("a")
            try fixture.host.join("b")
            try await withHearts(fixture, ["a", "b"]) { hearts in
                let mine = try await fixture.assignment(to: "a")
                let other = try await fixture.assignment(to: "b")
                // Somebody holds the row of one slot's attempt until it is ended.
                async let lock = server.sql(
                    "BEGIN; SELECT 1 FROM attempt WHERE slot = 'a' FOR UPDATE; SELECT pg_sleep(120); COMMIT",
                    database
                )
                try await eventually("the row is held") {
                    try await server.sql("SELECT count(*) \(TestPostgresServer.sleepers)", database) == "1\n"
                }
                hearts.vouch("a", mine)
                hearts.vouch("b", other)
                try accept(mine, "a", fixture)
                try accept(other, "b", fixture)
                let before = ["a", "b"].map { fixture.host.renewals(to: $0) }
                fixture.host.send(Array("evidence".utf8), route: "b")
                hearts.vouch("b", nil)
                let evidence = Digest.sha256(of: Array("evidence".utf8))
                try fixture.host.say(.result(try fixture.report(other, evidence: evidence)), route: "b")
                try await eventually("the other slot's result is recorded") {
                    isAcknowledged(other, "b", fixture)
                }
                let open = try await fixture.store.openAttempts()
                #expect(open.map(\.state) == [.assigned], "one still waits: \(open)")
                try await eventually("both slots' heartbeats are answered all the time") {
                    zip(["a", "b"], before).allSatisfy { fixture.host.renewals(to: $0) >= $1 + 60 }
                }
                _ = try await server.sql("SELECT pg_terminate_backend(pid) \(TestPostgresServer.sleepers)", database)
                // Its command fails, as it was ended.
                _ = try? await lock
                try await eventually("the blocked one is taken down") {
                    try await fixture.store.openAttempts().map(\.state) == [.running]
                }
                hearts.vouch("a", nil)
                let empty = Digest.sha256(of: [])
                try fixture.host.say(.result(try fixture.report(mine, evidence: empty)), route: "a")
                try await eventually("its result is recorded too") { isAcknowledged(mine, "a", fixture) }
                try await checkAllPassedOnce(batch, fixture)
            }
        }
    }

    @Test func evidenceThatCannotBeKeptIsAskedForAgainAndHoldsUpItsOwnSlotOnly() async throws {
        try await FarmFixture.with(lease: .seconds(5)) { fixture in
            let batch = try await fixture.submit(runs: 2)
            try await fixture.host.greet()
            try fixture.host.join("a")
            try fixture.host.join("b")
            try await withHearts(fixture, ["a", "b"]) { hearts in
                let mine = try await fixture.assignment(to: "a")
                let other = try await fixture.assignment(to: "b")
                try accept(mine, "a", fixture)
                try accept(other, "b", fixture)
                let bytes = Array("evidence of a".utf8)
                let evidence = Digest.sha256(of: bytes)
                // The archive cannot write this one pack.
                let obstacle = "\(fixture.archive)/evidence/\(evidence.hex.prefix(2))/\(evidence.hex)"
                try DurableFile.makeFolder(obstacle)
                func sendResult() throws {
                    fixture.host.send(bytes, route: "a")
                    try fixture.host.say(.result(try fixture.report(mine, evidence: evidence)), route: "a")
                }
                try sendResult()
                let empty = Digest.sha256(of: [])
                try fixture.host.say(.result(try fixture.report(other, evidence: empty)), route: "b")
                try await eventually("the other slot's result is recorded") {
                    isAcknowledged(other, "b", fixture)
                }
                try await eventually("the operator is told") {
                    let why = try await fixture.farm.why(slot: "a")
                    return why.reasons.contains { $0.contains("evidence-not-kept") }
                }
                let reference = AttemptReference(attempt: mine.attempt, epoch: mine.epoch)
                for round in 1...2 {
                    // Longer than a lease in all: the attempt is not given up meanwhile.
                    try await eventually("the agent is asked again") { fixture.host.greetings(to: "a") >= round }
                    try fixture.host.join("a", unacknowledged: [reference])
                    try sendResult()
                }
                try await eventually("it is asked once more") { fixture.host.greetings(to: "a") >= 3 }
                #expect(!isAcknowledged(mine, "a", fixture))
                #expect(rmdir(obstacle) == 0)
                try fixture.host.join("a", unacknowledged: [reference])
                try sendResult()
                try await eventually("the result is recorded") { isAcknowledged(mine, "a", fixture) }
                try await eventually("nothing is in the way any more") {
                    try await !fixture.farm.why(slot: "a").reasons.contains { $0.contains("evidence-not-kept") }
                }
                try await checkAllPassedOnce(batch, fixture)
            }
        }
    }
}
