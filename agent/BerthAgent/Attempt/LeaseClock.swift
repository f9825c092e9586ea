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

    /// Begins anywhere: an answer that is under way to an agent that died is none to the agent after it.
    private var sequence = UInt64.random(in: 0..<1 << 40)
    private var sent: [Sent] = []
    private var attempt: AttemptReference?
    private var begun: ContinuousClock.Instant?
    /// When the last message was sent that the present coordinator has answered.
    private var heard: ContinuousClock.Instant?
    /// The present channel is open and the coordinator has answered nothing on it: it may not even know of it.
    private var isUnanswered = false
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

    /// A channel was opened: the hello was sent now or later, and no earlier heartbeat will be answered.
    package mutating func open(at now: ContinuousClock.Instant) {
        heard = now
        isUnanswered = true
        sent = []
    }

    /// An attempt was taken. Its assignment may have been long under way, so the lease runs from the sending of what the
    /// coordinator had answered last: it still held the attempt for its slot then, or had not claimed it yet.
    package mutating func begin(_ attempt: AttemptReference, at now: ContinuousClock.Instant) {
        self.attempt = attempt
        begun = start(at: now)
    }

    /// Whether the lease of an attempt that is assigned now may have run out already. So it may before the coordinator has
    /// answered a heartbeat of this channel: the host's `attach` opens it with a hello that can be old, and what comes
    /// down first can have been sent long before.
    package func isOver(at now: ContinuousClock.Instant) -> Bool { isUnanswered || end(of: start(at: now)) <= now }

    private func start(at now: ContinuousClock.Instant) -> ContinuousClock.Instant { min(now, heard ?? now) }

    private func end(of start: ContinuousClock.Instant) -> ContinuousClock.Instant {
        start + length * (100 - margin) / 100
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
        isUnanswered = false
        heard = max(heard ?? heartbeat.at, heartbeat.at)
        guard heartbeat.attempt == attempt, let begun, heartbeat.at > begun else { return }
        self.begun = heartbeat.at
    }

    /// When the attempt must be over: the margin before the lease's end. Nil without an attempt.
    package var deadline: ContinuousClock.Instant? { begun.map(end) }
}
