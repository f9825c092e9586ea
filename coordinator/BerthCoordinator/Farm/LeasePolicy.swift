import BerthCore

/// The one number from which both sides end an attempt, and what follows from it.
package struct LeasePolicy: Sendable, Hashable {
    /// Length of a lease: the agent ends its attempt before this long after the last renewal that was answered.
    package let length: Duration
    /// How often agents renew.
    package let heartbeat: Duration
    /// An attempt may wait for its builds to be transferred for this long.
    package let preparation: Duration
    /// Time limit of a whole attempt.
    package let attempt: Duration

    package init(
        length: Duration = .seconds(15),
        heartbeat: Duration = .seconds(1),
        preparation: Duration = .seconds(900),
        attempt: Duration = .seconds(900)
    ) {
        self.length = length
        self.heartbeat = heartbeat
        self.preparation = preparation
        self.attempt = attempt
    }

    /// A coordinator holds a host for this long from each renewal: short enough that another one which takes it over
    /// after that still meets the running attempts.
    package var hostHold: Duration { length / 3 }

    /// The coordinator grants the slot again this long after the last renewal that it received.
    package var grantAfter: Duration { length + length / 5 }
}

extension Int64 {
    /// The difference from another number, or the nearest there is: what a host says may be any number.
    func clampedDifference(from other: Int64) -> Int64 {
        let (difference, isOver) = subtractingReportingOverflow(other)
        return isOver ? (self < 0 ? .min : .max) : difference
    }
}

extension Duration {
    /// Whole milliseconds.
    package var milliseconds: Int64 {
        components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
    }
}
