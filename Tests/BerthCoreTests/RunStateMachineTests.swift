import BerthCore
import Testing

@Suite("State machine of a run")
struct RunStateMachineTests {
    private static let fresh = RunStateMachine.History(unproven: 0, limit: 3, isContradicted: false)

    private func after(_ events: RunStateMachine.Event...) throws -> RunStateMachine {
        var machine = RunStateMachine()
        for event in events { try machine.apply(event) }
        return machine
    }

    @Test("What is proved is the verdict; contradicted pins are flaky, and never both")
    func proved() throws {
        let contradicted = RunStateMachine.History(unproven: 2, limit: 3, isContradicted: true)
        for (outcome, verdict) in [(Outcome.passed, RunVerdict.passed), (.failed, .failed)] {
            #expect(try after(.claimed, .accepted, .ended(outcome, Self.fresh)).verdict == verdict)
            #expect(try after(.claimed, .accepted, .ended(outcome, contradicted)).verdict == .flaky)
            // A result can be faster than the word that nobody wants it any more.
            #expect(try after(.claimed, .accepted, .cancelled, .ended(outcome, Self.fresh)).verdict == verdict)
        }
    }

    @Test("Attempts without proof are repeated up to the limit", arguments: [Outcome.errored, .void, .lost])
    func unproven(_ outcome: Outcome) throws {
        var machine = RunStateMachine()
        for unproven in 0..<3 {
            try machine.apply(.claimed)
            if unproven == 1 { try machine.apply(.accepted) }
            try machine.apply(.ended(outcome, .init(unproven: unproven, limit: 3, isContradicted: false)))
            #expect(machine.run == (unproven < 2 ? .queued : .finished))
        }
        #expect(machine.verdict == .unproven)
    }

    @Test("Cancelled and expired: at once while it waits, with its attempt while it is held; the first word counts")
    func unwanted() throws {
        #expect(try after(.cancelled).verdict == .cancelled)
        #expect(try after(.expired).verdict == .expired)
        #expect(try after(.claimed, .declined, .expired).verdict == .expired)
        for (event, verdict) in [(RunStateMachine.Event.cancelled, RunVerdict.cancelled), (.expired, .expired)] {
            let waiting = try after(.claimed, event)
            #expect(waiting.run == .assigned && waiting.verdict == nil)
            #expect(try after(.claimed, event, .declined).verdict == verdict)
            for outcome in [Outcome.errored, .void, .lost, .cancelled] {
                #expect(try after(.claimed, .accepted, event, .ended(outcome, Self.fresh)).verdict == verdict)
            }
        }
        #expect(try after(.claimed, .cancelled, .expired, .declined).verdict == .cancelled)
    }

    @Test("A declined attempt leaves no trace but itself")
    func declined() throws {
        let machine = try after(.claimed, .declined)
        #expect(machine == RunStateMachine(run: .queued, attempt: .declined))
    }

    @Test("Every event that cannot happen is refused and moves nothing")
    func illegal() throws {
        let events: [RunStateMachine.Event] = [
            .claimed, .accepted, .declined, .ended(.passed, Self.fresh), .cancelled, .expired,
        ]
        let legal: [(RunStateMachine, Set<RunStateMachine.Event>)] = [
            (try after(), [.claimed, .cancelled, .expired]),
            (try after(.claimed), [.accepted, .declined, .ended(.passed, Self.fresh), .cancelled, .expired]),
            (try after(.claimed, .accepted), [.ended(.passed, Self.fresh), .cancelled, .expired]),
            (try after(.claimed, .accepted, .ended(.passed, Self.fresh)), []),
            (try after(.cancelled), []),
            (try after(.expired), []),
        ]
        for (machine, allowed) in legal {
            for event in events {
                var moved = machine
                if allowed.contains(event) {
                    try moved.apply(event)
                    #expect(machine.run == moved.run || machine.run.successors.contains(moved.run))
                } else {
                    #expect(throws: RunStateMachine.IllegalMove.self) { try moved.apply(event) }
                    #expect(moved == machine)
                }
            }
        }
    }
}
