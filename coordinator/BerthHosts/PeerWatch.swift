/// When a peer that says nothing is asked for a sign of life, and when it is given up. A value without a clock.
struct PeerWatch {
    /// After so much silence the peer is asked.
    let askAfter: Duration
    /// After so much silence it is dead.
    let deadAfter: Duration
    private(set) var lastHeard: ContinuousClock.Instant
    /// It was asked, or is about to be, since it was heard last.
    private(set) var isAsking = false

    init(askAfter: Duration, deadAfter: Duration, now: ContinuousClock.Instant) {
        self.askAfter = min(askAfter, deadAfter / 2)
        self.deadAfter = deadAfter
        lastHeard = now
    }

    /// When to look again though nothing has happened.
    var deadline: ContinuousClock.Instant { lastHeard.advanced(by: isAsking ? deadAfter : askAfter) }

    mutating func heard(_ now: ContinuousClock.Instant) {
        lastHeard = now
        isAsking = false
    }

    /// - Returns: whether to ask the peer now.
    mutating func shouldAsk(_ now: ContinuousClock.Instant) -> Bool {
        guard !isAsking, lastHeard.advanced(by: askAfter) <= now else { return false }
        isAsking = true
        return true
    }

    func isDead(_ now: ContinuousClock.Instant) -> Bool { lastHeard.advanced(by: deadAfter) <= now }
}
