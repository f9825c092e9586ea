/// Runs of one requirement class, submitter and priority that wait, in the order of their submission.
package struct WaitingLane: Sendable, Hashable {
    package let number: Int64
    package let submitter: String
    /// Higher goes first.
    package let priority: Int64
    /// What the submitter has had of the farm, in attempts, counted so that a newcomer has no credit.
    package let served: Int64
    /// The number of the run that waits longest here.
    package let oldestRun: Int64
    /// When it was submitted, in milliseconds since 1970.
    package let oldestSubmittedAt: Int64

    package init(
        number: Int64,
        submitter: String,
        priority: Int64,
        served: Int64,
        oldestRun: Int64,
        oldestSubmittedAt: Int64
    ) {
        self.number = number
        self.submitter = submitter
        self.priority = priority
        self.served = served
        self.oldestRun = oldestRun
        self.oldestSubmittedAt = oldestSubmittedAt
    }

    /// The priority with what waiting adds to it: one level for each `SchedulingOrder.patience`.
    package func risenPriority(now: Int64) -> Int64 {
        priority + max(0, now - oldestSubmittedAt) / SchedulingOrder.patience
    }
}

/// Who goes first of what waits.
package enum SchedulingOrder {
    /// After each such time of waiting, in milliseconds, a run counts as one priority higher, so that none starves.
    package static let patience: Int64 = 30 * 60 * 1000

    /// Lanes in the order in which they are served: by priority, risen with waiting; then the submitter who has had
    /// least; then age.
    package static func ordered(_ lanes: [WaitingLane], now: Int64) -> [WaitingLane] {
        guard lanes.count > 1 else { return lanes }
        return lanes.sorted { left, right in
            let (high, low) = (left.risenPriority(now: now), right.risenPriority(now: now))
            if high != low { return high > low }
            if left.served != right.served { return left.served < right.served }
            return left.oldestRun < right.oldestRun
        }
    }
}
