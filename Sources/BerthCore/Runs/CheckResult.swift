/// One decided question.
package struct CheckResult: Sendable, Hashable, Codable {
    package enum State: String, Sendable, Hashable, Codable {
        case held
        case broken
        /// The attempt ended before the question could be answered.
        case undecided
    }

    package let id: RuleID
    package let state: State
    /// Why it is broken or undecided, in words.
    package let reason: String?

    package init(id: RuleID, state: State, reason: String? = nil) {
        self.id = id
        self.state = state
        self.reason = reason
    }
}
