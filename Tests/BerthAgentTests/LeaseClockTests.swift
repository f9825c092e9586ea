import BerthAgent
import BerthCore
import Testing

/// The agent's side of the lease, with instants of the test's own.
@Suite struct LeaseClockTests {
    private let attempt = AttemptReference(attempt: "a-1", epoch: 1)
    private let start = ContinuousClock.now

    private func clock() -> LeaseClock {
        var clock = LeaseClock()
        clock.adopt(leaseMilliseconds: 10_000)
        return clock
    }

    @Test("the lease counts from the sending of the acknowledged heartbeat, not from its answer")
    func sending() {
        var clock = clock()
        #expect(clock.deadline == nil)
        clock.begin(attempt, at: start)
        #expect(clock.deadline == start + .seconds(8))
        let first = clock.heartbeat(at: start + .seconds(1))
        let second = clock.heartbeat(at: start + .seconds(2))
        #expect(first.running == attempt)
        // The answer to the first comes late; only its sending counts.
        clock.renewed(first.sequence)
        #expect(clock.deadline == start + .seconds(9))
        clock.renewed(second.sequence)
        #expect(clock.deadline == start + .seconds(10))
    }

    @Test("answers that are old, repeated or made up renew nothing")
    func strayAnswers() {
        var clock = clock()
        let before = clock.heartbeat(at: start - .seconds(1))
        clock.begin(attempt, at: start)
        clock.renewed(before.sequence)
        clock.renewed(99)
        #expect(clock.deadline == start + .seconds(8))
        let later = clock.heartbeat(at: start + .seconds(3))
        let last = clock.heartbeat(at: start + .seconds(4))
        clock.renewed(last.sequence)
        clock.renewed(later.sequence)
        clock.renewed(last.sequence)
        #expect(clock.deadline == start + .seconds(12))
    }

    @Test("an assignment that was long under way gets the rest of its lease, or none")
    func lateAssignment() {
        var clock = clock()
        clock.open(at: start)
        // Nobody has answered on this channel: what comes may have been sent to the one before.
        #expect(clock.isOver(at: start))
        clock.renewed(clock.heartbeat(at: start).sequence)
        #expect(!clock.isOver(at: start + .seconds(7)) && clock.isOver(at: start + .seconds(8)))
        let heartbeat = clock.heartbeat(at: start + .seconds(2))
        let unanswered = clock.heartbeat(at: start + .seconds(5))
        clock.renewed(heartbeat.sequence)
        clock.begin(attempt, at: start + .seconds(6))
        #expect(clock.deadline == start + .seconds(10))
        // On a new channel nobody answers what was sent on the one before.
        clock.open(at: start + .seconds(7))
        clock.renewed(unanswered.sequence)
        #expect(clock.deadline == start + .seconds(10))
    }

    @Test("a heartbeat that vouched for the attempt before does not renew the next one")
    func otherAttempt() {
        var clock = clock()
        clock.begin(attempt, at: start)
        let old = clock.heartbeat(at: start + .seconds(5))
        clock.end()
        #expect(clock.deadline == nil)
        clock.begin(AttemptReference(attempt: "a-2", epoch: 2), at: start + .seconds(1))
        clock.renewed(old.sequence)
        #expect(clock.deadline == start + .seconds(9))
    }
}
