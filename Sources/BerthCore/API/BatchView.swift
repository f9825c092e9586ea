/// A batch with its runs.
package struct BatchView: Sendable, Hashable, Codable {
    package let id: String
    package let submitter: String
    /// Milliseconds since 1970.
    package let submittedAt: Int64
    package let runs: [RunView]

    package init(id: String, submitter: String, submittedAt: Int64, runs: [RunView]) {
        self.id = id
        self.submitter = submitter
        self.submittedAt = submittedAt
        self.runs = runs
    }

    /// Whether every run has its end.
    package var isFinished: Bool { runs.allSatisfy { $0.state.successors.isEmpty } }
}
