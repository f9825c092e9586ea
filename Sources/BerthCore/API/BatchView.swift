/// A batch with its runs.
package struct BatchView: Sendable, Hashable, Codable {
    package let id: String
    package let submitter: String
    /// Milliseconds since 1970.
    package let submittedAt: Int64
    package let runs: [RunView]
    /// The plan's name.
    package let name: String?
    /// What the batch replays.
    package let replay: ReplayRequest?
    /// What a submitter should look at; only in the answer to a submission.
    package let warnings: [String]?
    /// When what has no end yet expires, in milliseconds since 1970; absent if never.
    package let deadline: Int64?

    package init(
        id: String,
        submitter: String,
        submittedAt: Int64,
        runs: [RunView],
        name: String? = nil,
        replay: ReplayRequest? = nil,
        warnings: [String]? = nil,
        deadline: Int64? = nil
    ) {
        self.id = id
        self.submitter = submitter
        self.submittedAt = submittedAt
        self.runs = runs
        self.name = name
        self.replay = replay
        self.warnings = warnings
        self.deadline = deadline
    }

    /// The same batch with its runs replaced, or with warnings.
    package func with(runs: [RunView]? = nil, warnings: [String]? = nil) -> BatchView {
        BatchView(
            id: id,
            submitter: submitter,
            submittedAt: submittedAt,
            runs: runs ?? self.runs,
            name: name,
            replay: replay,
            warnings: warnings ?? self.warnings,
            deadline: deadline
        )
    }

    /// Whether every run has its end.
    package var isFinished: Bool { runs.allSatisfy { $0.state.successors.isEmpty } }
}
