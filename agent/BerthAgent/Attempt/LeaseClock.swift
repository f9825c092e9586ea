import BerthCore

/// Counts an attempt's lease on the agent's side: from *sending* the heartbeat that was last acknowledged. A value;
/// instants are those of the continuous clock, which runs on while a host sleeps.
package struct LeaseClock: Sendable {
    private struct Sent {
        let sequence: UInt64
        let at: ContinuousClock.Instant
        let attempt: AttemptReference?
    }

    /// How many unanswered heartbeats are remembered.
    private static let memory = 256

    private var sequence: UInt64 = 0
    private var sent: [Sent] = []
    private var attempt: AttemptReference?
    private var begun: ContinuousClock.Instant?
    private var length: Duration = .seconds(15)

    private let margin: Int

    /// - Parameter margin: how long before the lease's end the attempt must be over, in percent of the lease.
    package init(margin: Int = 20) {
        self.margin = margin
    }

    /// The one number of both sides, from the coordinator's hello.
    package mutating func adopt(leaseMilliseconds: Int64) {
        length = .milliseconds(max(leaseMilliseconds, 1))
    }

    /// An attempt was taken; its lease runs from here.
    package mutating func begin(_ attempt: AttemptReference, at now: ContinuousClock.Instant) {
        self.attempt = attempt
        begun = now
    }

    /// The attempt has ended.
    package mutating func end() {
        attempt = nil
        begun = nil
    }

    /// The next heartbeat, counted as sent now.
    package mutating func heartbeat(at now: ContinuousClock.Instant) -> Heartbeat {
        sequence += 1
        sent.append(Sent(sequence: sequence, at: now, attempt: attempt))
        if sent.count > Self.memory { sent.removeFirst() }
        return Heartbeat(sequence: sequence, running: attempt)
    }

    /// A heartbeat was acknowledged. One that did not vouch for the present attempt renews nothing.
    package mutating func renewed(_ sequence: UInt64) {
        guard let index = sent.firstIndex(where: { $0.sequence == sequence }) else { return }
        let heartbeat = sent[index]
        sent.removeFirst(index + 1)
        guard heartbeat.attempt == attempt, let begun, heartbeat.at > begun else { return }
        self.begun = heartbeat.at
    }

    /// When the attempt must be over: the margin before the lease's end. Nil without an attempt.
    package var deadline: ContinuousClock.Instant? { begun.map { $0 + length * (100 - margin) / 100 } }
}
