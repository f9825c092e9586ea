import BerthArchive
import BerthCoordinator
import BerthCore
import BerthStore
import BerthSystem
import BerthTestSupport
import Foundation
import Synchronization
import Testing

/// What the farm does when hosts and agents come, go and fall silent.
@Suite(.timeLimit(.minutes(5)))
struct FarmTests {
    @Test func aBuildTravelsToAHostOnceForAllItsSlots() async throws {
        try await FarmFixture.with { fixture in
            let batch = try await fixture.submit(runs: 2)
            try await fixture.host.greet()
            try fixture.host.join("a")
            try fixture.host.join("b")
            let first = try await fixture.assignment(to: "a")
            let second = try await fixture.assignment(to: "b")
            #expect(first.attempt != second.attempt && first.nonce != second.nonce)
            #expect(Set([first.run, second.run]) == Set(batch.runs.map(\.id)))
            #expect(fixture.host.received.values.max() == 300_000)
            #expect(fixture.host.received.count == 3, "one program and two manifests")
        }
    }

    @Test func aSilentAgentLosesItsAttemptAndItsLateResultIsSuperseded() async throws {
        try await FarmFixture.with(lease: .seconds(2)) { fixture in
            let batch = try await fixture.submit(runs: 1)
            try await fixture.host.greet()
            try fixture.host.join("a")
            // The agent lives all the time; only what it vouches for is renewed once it was accepted.
            let vouched = Mutex<AttemptReference?>(nil)
            let beating = Task {
                while !Task.isCancelled {
                    let running = vouched.withLock { $0 }
                    try fixture.host.say(.heartbeat(Heartbeat(sequence: 1, running: running)), route: "a")
                    try await Task.sleep(for: .milliseconds(50))
                }
            }
            defer { beating.cancel() }
            let first = try await fixture.assignment(to: "a")
            let reference = AttemptReference(attempt: first.attempt, epoch: first.epoch)
            try fixture.host.say(.accepted(reference), route: "a")
            let second = try await fixture.assignment(to: "a", number: 2)
            #expect(second.run == first.run && second.attempt != first.attempt && second.epoch > first.epoch)
            let again = AttemptReference(attempt: second.attempt, epoch: second.epoch)
            vouched.withLock { $0 = again }
            try fixture.host.say(.accepted(again), route: "a")
            let evidence = Digest.sha256(of: [])
            try fixture.host.say(.result(try fixture.report(first, evidence: evidence)), route: "a")
            try await eventually("the late result is filed") {
                fixture.host.messages(to: "a").contains(
                    .recorded(Acknowledgement(attempt: first.attempt, epoch: first.epoch, filing: .superseded))
                )
            }
            // The same result twice, as after a lost acknowledgement.
            for _ in 0..<2 { try fixture.host.say(.result(try fixture.report(second, evidence: evidence)), route: "a") }
            try await eventually("both are acknowledged") {
                fixture.host.messages(to: "a").filter {
                    $0 == .recorded(Acknowledgement(attempt: second.attempt, epoch: second.epoch, filing: .recorded))
                }.count == 2
            }
            let ledger = try await fixture.store.ledger(.simulator)
            #expect(ledger.entries.map(\.outcome) == [.lost, .passed])
            #expect(ledger.entries.map(\.deciding) == [false, true])
            #expect(try await fixture.store.run(id: batch.runs[0].id).verdict == .passed)
        }
    }

    @Test func anAssignmentThatWasNeverAcceptedIsOfferedAgainAsTheSameAttempt() async throws {
        try await FarmFixture.with { fixture in
            _ = try await fixture.submit(runs: 1)
            try await fixture.host.greet()
            try fixture.host.join("a")
            let first = try await fixture.assignment(to: "a")
            fixture.host.hangUp()
            try await eventually("the farm connects again") { fixture.host.connections == 2 }
            try await fixture.host.greet()
            try fixture.host.join("a")
            #expect(try await fixture.assignment(to: "a", number: 2) == first)
        }
    }

    @Test func aRunThatIsCalledOffBeforeAnyAgentKnowsOfItIsTakenBackAtOnce() async throws {
        // The host never answers, so the builds stay on their way.
        try await FarmFixture.with(host: StandInHost(answersQueries: false)) { fixture in
            let batch = try await fixture.submit(runs: 2)
            try await fixture.host.greet()
            try fixture.host.join("a")
            let (first, second) = (batch.runs[0].id, batch.runs[1].id)
            try await eventually("the builds are on their way") {
                guard let open = try await fixture.store.openAttempts().first else { return false }
                return await fixture.farm.progress(of: open.attempt) == "transfer"
            }
            let open = try await fixture.store.cancelRun(first, now: 5)
            #expect(open.map(\.run) == [first])
            await fixture.farm.cancel(open, reason: "not wanted")
            let cancelled = try await fixture.store.run(id: first)
            #expect(cancelled.state == .cancelled && cancelled.attempts.map(\.state) == [.declined])
            #expect(cancelled.attempts[0].cause == OutcomeCause("cancelled", "not wanted"))
            // Nothing was executed, so nothing is recorded; the next one waits or has the slot.
            #expect(try await fixture.store.ledger(.simulator).entries.isEmpty)
            #expect(fixture.host.assignments(to: "a").isEmpty)
            #expect(try await fixture.store.cancelRun(second, now: 6).count <= 1)
        }
    }

    @Test func aResultWithoutItsEvidenceIsNotAcknowledgedAndNotWaitedForWithoutEnd() async throws {
        try await FarmFixture.with(lease: .seconds(3600)) { fixture in
            _ = try await fixture.submit(runs: 1)
            try await fixture.host.greet()
            try fixture.host.join("a")
            let assignment = try await fixture.assignment(to: "a")
            let reference = AttemptReference(attempt: assignment.attempt, epoch: assignment.epoch)
            try fixture.host.say(.accepted(reference), route: "a")
            let report = try fixture.report(assignment, evidence: .sha256(of: Array("never sent".utf8)))
            try fixture.host.say(.result(report), route: "a")
            try await eventually("the farm asks for it again") { fixture.host.greetings(to: "a") == 1 }
            #expect(fixture.host.connections == 1)
            let why = try await fixture.farm.why(slot: "a")
            #expect(why.reasons.contains { $0.contains("evidence-missing") }, "\(why)")
            #expect(try await fixture.store.ledger(.simulator).entries.isEmpty)
            #expect(!fixture.host.messages(to: "a").contains { if case .recorded = $0 { true } else { false } })
            // The agent is asked a few times. Then the attempt is given up, however long the lease is, and its run goes on.
            for round in 2...5 {
                #expect(try await fixture.store.ledger(.simulator).entries.isEmpty)
                try fixture.host.join("a", unacknowledged: [reference])
                try fixture.host.say(.result(report), route: "a")
                if round == 5 { break }
                try await eventually("it is asked again") { fixture.host.greetings(to: "a") == round }
            }
            try await eventually("the attempt is given up") {
                try await !fixture.store.ledger(.simulator).entries.isEmpty
            }
            let entry = try #require(try await fixture.store.ledger(.simulator).entries.first)
            #expect(entry.outcome == .lost && entry.cause?.code == "evidence-missing", "\(entry)")
            #expect(try await fixture.assignment(to: "a", number: 2).run == assignment.run)
            try fixture.host.join("a", unacknowledged: [reference])
            try fixture.host.say(.result(report), route: "a")
            try await eventually("the result is kept beside, and its agent need not keep it") {
                fixture.host.messages(to: "a").contains(
                    .recorded(Acknowledgement(attempt: reference.attempt, epoch: reference.epoch, filing: .superseded))
                )
            }
            #expect(try await fixture.store.supersededReports().map(\.attempt) == [reference.attempt])
        }
    }

    @Test func anAgentThatSpeaksForAnotherSlotLosesTheChannel() async throws {
        try await FarmFixture.with { fixture in
            try await fixture.host.greet()
            let hello = AgentHello(
                slot: "a",
                agentVersion: "t",
                device: DeviceFacts(
                    identity: "d",
                    platform: .linuxSimulated,
                    model: "m",
                    os: OSPin(version: "1", build: "x")
                ),
                highestEpoch: 0,
                features: [],
                tools: [:],
                running: nil,
                unacknowledged: []
            )
            try fixture.host.say(.agentHello(hello), route: "b")
            try await eventually("the farm connects anew") { fixture.host.connections == 2 }
            #expect(try await fixture.store.slots().isEmpty)
        }
    }

    /// A slot's agent speaks for its own attempt only, and a report under another epoch frees nothing.
    @Test func whatAnAgentSaysOfAnothersAttemptChangesNothing() async throws {
        try await FarmFixture.with(lease: .seconds(2)) { fixture in
            let batch = try await fixture.submit(runs: 2)
            try await fixture.host.greet()
            try fixture.host.join("a")
            try fixture.host.join("b")
            let mine = try await fixture.assignment(to: "a")
            _ = try await fixture.assignment(to: "b")
            let reference = AttemptReference(attempt: mine.attempt, epoch: mine.epoch)
            try fixture.host.say(.accepted(reference), route: "b")
            try fixture.host.say(
                .declined(.init(attempt: mine.attempt, epoch: mine.epoch, cause: .init("busy", "not mine"))),
                route: "b"
            )
            let forged = Assignment(
                run: mine.run,
                attempt: mine.attempt,
                epoch: mine.epoch + 7,
                nonce: mine.nonce,
                pins: mine.pins,
                caseDefinition: mine.caseDefinition,
                builds: mine.builds,
                timeout: mine.timeout
            )
            try fixture.host.say(.result(try fixture.report(forged, evidence: .sha256(of: []))), route: "a")
            try await eventually("the forged report is answered") {
                fixture.host.messages(to: "a").contains(
                    .recorded(Acknowledgement(attempt: mine.attempt, epoch: mine.epoch + 7, filing: .unknown))
                )
            }
            // The lease is still watched: without a word from its agent the attempt is given up and offered anew.
            try await eventually("the attempt is given up") {
                try await fixture.store.run(id: mine.run).attempts.first?.outcome == .lost
            }
            #expect(batch.runs.count == 2)
        }
    }

    @Test func aDeliveryThatWasCutOffBeginsAgain() async throws {
        try await FarmFixture.with(host: StandInHost(answersQueries: false)) { fixture in
            _ = try await fixture.submit(runs: 1)
            try await fixture.host.greet()
            try fixture.host.join("a")
            try await eventually("the host is asked what it lacks") { fixture.host.queries == 1 }
            fixture.host.hangUp()
            try await fixture.host.greet()
            try fixture.host.join("a")
            try await eventually("it is asked again") { fixture.host.queries == 2 }
            try fixture.host.answerQueries()
            _ = try await fixture.assignment(to: "a")
            #expect(try await fixture.store.ledger(.simulator).entries.isEmpty, "no attempt was lost by it")
        }
    }

    @Test func aHostIsAskedOnceWhatItLacksAndAgainWhenAnAgentMissesABuild() async throws {
        try await FarmFixture.with { fixture in
            _ = try await fixture.submit(runs: 3)
            try await fixture.host.greet()
            try fixture.host.join("a")
            let first = try await fixture.assignment(to: "a")
            #expect(fixture.host.queries == 1)
            try fixture.host.join("b")
            _ = try await fixture.assignment(to: "b")
            #expect(fixture.host.queries == 1)
            let missing = OutcomeCause("build-missing", "the host's cache was emptied")
            try fixture.host.say(
                .declined(Declination(attempt: first.attempt, epoch: first.epoch, cause: missing)),
                route: "a"
            )
            let second = try await fixture.assignment(to: "a", number: 2)
            #expect(second.epoch > first.epoch && fixture.host.queries > 1)
        }
    }
}
