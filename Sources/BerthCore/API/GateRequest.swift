/// Asks the gate for a verdict.
package struct GateRequest: Sendable, Hashable, Codable {
    /// The standard policy if absent.
    package let policy: GatePolicy?
    /// ID, prefix or name.
    package let old: String
    /// The build between the two; nil for a path of two builds.
    package let transitional: String?
    package let new: String

    package init(policy: GatePolicy?, old: String, transitional: String? = nil, new: String) {
        self.policy = policy
        self.old = old
        self.transitional = transitional
        self.new = new
    }
}
