/// Asks the gate for a verdict.
package struct GateRequest: Sendable, Hashable, Codable {
    /// The standard policy if absent.
    package let policy: GatePolicy?
    /// ID, prefix or name.
    package let old: String
    package let new: String

    package init(policy: GatePolicy?, old: String, new: String) {
        self.policy = policy
        self.old = old
        self.new = new
    }
}
