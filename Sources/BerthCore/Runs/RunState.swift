/// Where a run stands. Only the store moves it, by compare-and-set.
package enum RunState: String, Sendable, Hashable, Codable, CaseIterable {
    /// Waits for a slot.
    case queued
    /// An attempt is bound to a slot, which has not yet accepted it.
    case assigned
    /// The slot works on it.
    case running
    /// It has a verdict.
    case finished
    case cancelled
    case expired

    /// The states that may follow.
    package var successors: Set<RunState> {
        switch self {
        case .queued: [.assigned, .cancelled, .expired, .finished]
        case .assigned: [.running, .queued, .finished, .cancelled, .expired]
        case .running: [.finished, .queued, .cancelled, .expired]
        case .finished, .cancelled, .expired: []
        }
    }
}
