import BerthArchive
import BerthCore
import BerthStore
import BerthSystem
import BerthTestSupport
import Testing

/// A host is believed in what concerns its own slots, and nowhere else.
@Suite(.timeLimit(.minutes(5)))
struct HostileHostTests {
    @Test("Numbers that no honest host says do not end the coordinator, and its own runs go on")
    func absurdNumbers() async throws {
        try await FarmFixture.with { fixture in
            let batch = try await fixture.submit(runs: 1)
            try await fixture.host.greet(wallClock: .min)
            let digest = Digest.sha256(of: [1])
            try fixture.host.say(.received(ReceivedBytes(digest: digest, count: .min)))
            let missing = MissingBlobs.Missing(digest: digest, have: .max)
            try fixture.host.say(.missing(MissingBlobs(request: 1, missing: [missing])))
            try fixture.host.join("a")
            for offset in [UInt64.max, 1 << 63] { fixture.host.send([1], offset: offset, route: "a") }
            let assignment = try await fixture.assignment(to: "a")
            let reference = AttemptReference(attempt: assignment.attempt, epoch: assignment.epoch)
            try fixture.host.say(.accepted(reference), route: "a")
            let report = try fixture.report(assignment, evidence: Digest.sha256(of: []))
            try fixture.host.say(.result(report), route: "a")
            try await eventually("the run has passed") {
                try await fixture.store.run(id: batch.runs[0].id).verdict == .passed
            }
        }
    }

    @Test("No host accepts, declines, prolongs or ends another host's attempt, or takes its slot's name")
    func foreignAttempts() async throws {
        let stranger = StandInHost()
        try await FarmFixture.with(second: stranger) { fixture in
            let batch = try await fixture.submit(runs: 1)
            try await fixture.host.greet()
            try fixture.host.join("a")
            try await stranger.greet()
            let assignment = try await fixture.assignment(to: "a")
            let reference = AttemptReference(attempt: assignment.attempt, epoch: assignment.epoch)
            try stranger.join("a")
            let cause = OutcomeCause("refused", "the stranger says so")
            try stranger.say(
                .declined(Declination(attempt: assignment.attempt, epoch: assignment.epoch, cause: cause)),
                route: "a"
            )
            try stranger.say(.accepted(reference), route: "a")
            let empty = Digest.sha256(of: [])
            try stranger.say(.result(try fixture.report(assignment, .failed, evidence: empty)), route: "a")
            // What follows on the same channel was read after all that.
            try stranger.join("b")
            try await eventually("the stranger's own slot has joined") {
                try await fixture.store.slots().contains { $0.name == "b" && $0.host == "host-2" }
            }
            #expect(try await fixture.store.openAttempts().map(\.state) == [.assigned])
            try fixture.host.say(.accepted(reference), route: "a")
            try await eventually("the slot's own host is believed") {
                try await fixture.store.openAttempts().map(\.state) == [.running]
            }
            let before = fixture.host.renewals(to: "a")
            try fixture.host.say(.heartbeat(Heartbeat(sequence: 1, running: reference)), route: "a")
            try await eventually("its heartbeat is answered") { fixture.host.renewals(to: "a") > before }
            try fixture.host.say(.result(try fixture.report(assignment, evidence: empty)), route: "a")
            try await eventually("its result counts") {
                try await fixture.store.run(id: batch.runs[0].id).verdict == .passed
            }
            #expect(try await fixture.store.ledger(.simulator).entries.map(\.outcome) == [.passed])
        }
    }
}
