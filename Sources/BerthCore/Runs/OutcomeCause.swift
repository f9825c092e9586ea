/// Why an attempt ended as it did, when it did not pass.
package struct OutcomeCause: Sendable, Hashable, Codable, CustomStringConvertible {
    /// The code of an agent's refusal to execute builds that its host's cache does not have whole.
    package static let buildMissing = "build-missing"

    /// A stable word such as `seed-status-missing`, part of the interface.
    package let code: String
    /// What happened, where, and what to do.
    package let message: String

    package init(_ code: String, _ message: String) {
        self.code = code
        self.message = message
    }

    package var description: String { "\(code): \(message)" }
}
