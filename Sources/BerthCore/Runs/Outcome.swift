/// How an attempt ended.
package enum Outcome: String, Sendable, Hashable, Codable, CaseIterable {
    /// Every check of the case is held.
    case passed
    /// The migration is wrong.
    case failed
    /// The infrastructure is, with a named cause.
    case errored
    /// Cleanliness or continuity of the slot could not be proved.
    case void
    case cancelled
    /// The lease ran out or the agent died.
    case lost

    /// Whether another attempt may follow. A failure of the product is never retried into a pass.
    package var mayBeRetried: Bool {
        switch self {
        case .errored, .void, .lost: true
        case .passed, .failed, .cancelled: false
        }
    }

    /// Whether the outcome decides a repeat of a run.
    package var decides: Bool { self == .passed || self == .failed }
}
