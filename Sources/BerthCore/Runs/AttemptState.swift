/// Where an attempt stands.
package enum AttemptState: String, Sendable, Hashable, Codable, CaseIterable {
    /// Claimed for a slot; its agent has not answered yet.
    case assigned
    /// The agent has journaled it.
    case running
    /// It has an outcome.
    case ended
    /// The agent did not take it, so nothing was executed and no entry is recorded.
    case declined

    /// Whether it holds its slot.
    package var isOpen: Bool { self == .assigned || self == .running }
}
