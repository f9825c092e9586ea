import BerthArchive
import BerthCoordinator
import BerthCore
import BerthStore
import BerthSystem
import BerthTestSupport
import Foundation
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

    @Test("A host that says more than can be written down is cut off and named, whatever the number of its slots")
    func flood() async throws {
        let server = try await TestPostgresServer.started()
        let database = try await server.makeDatabase()
        try await FarmFixture.with(postgres: database) { fixture in
            _ = try await fixture.submit(runs: 1)
            try await fixture.host.greet()
            let slots = (1...4).map { "s\($0)" }
            for slot in slots { try fixture.host.join(slot) }
            try await eventually("the slots are known") { try await fixture.store.slots().count == 4 }
            try await eventually("one has an assignment") {
                slots.contains { !fixture.host.assignments(to: $0).isEmpty }
            }
            let assignment = try #require(slots.flatMap { fixture.host.assignments(to: $0) }.first)
            let lock = Task {
                try await server.sql(
                    "BEGIN; LOCK TABLE attempt IN EXCLUSIVE MODE; SELECT pg_sleep(60); COMMIT",
                    database
                )
            }
            try await eventually("nothing can be written") {
                try await server.sql("SELECT count(*) \(TestPostgresServer.sleepers)", database) == "1\n"
            }
            // Of no slot more than its own share.
            let words = String(repeating: "x", count: 1 << 20)
            let report = try fixture.report(assignment, evidence: Digest.sha256(of: []), saying: words)
            for slot in slots {
                for _ in 0..<12 { try fixture.host.say(.result(report), route: slot) }
            }
            try await eventually("the host is cut off") {
                try await fixture.farm.hostViews().first?.problem?.contains("more than 32 MiB would wait") ?? false
            }
            _ = try await server.sql("SELECT pg_terminate_backend(pid) \(TestPostgresServer.sleepers)", database)
            _ = await lock.result
            try await fixture.host.greet()
            try fixture.host.join("s1")
            try await eventually("it comes again") {
                try await fixture.farm.hostViews().first?.slots.contains { $0.state != .offline } ?? false
            }
        }
    }

    @Test("What comes for a slot before its agent's hello is not kept, and before the host's own ends the channel")
    func beforeHello() async throws {
        try await FarmFixture.with { fixture in
            try await fixture.host.greet()
            // Too long to be held in memory: it would be seen in the folder.
            let bytes = [UInt8](repeating: 9, count: 300_000)
            fixture.host.send(bytes, route: "a")
            try fixture.host.join("b")
            try await eventually("what followed has been read") { try await fixture.store.slots().map(\.name) == ["b"] }
            #expect(access("\(fixture.archive)/partial/\(Digest.sha256(of: bytes).hex)", F_OK) != 0)
            fixture.host.hangUp()
            try await eventually("the farm connects again") { fixture.host.connections == 2 }
            try fixture.host.join("a")
            try await eventually("it is told why that ends the channel") {
                try await fixture.farm.hostViews().first?.problem?.contains("has not greeted yet") ?? false
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
