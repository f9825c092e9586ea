import BerthCore

/// A run as the API shows it, and beside it what the evidence of its last ended attempt says.
struct RunDiagnosis: Encodable {
    /// One launch's operations with the names of their OSStatus.
    private struct Launch: Encodable {
        struct Step: Encodable {
            let what: String
            let status: Int32
            let words: String
        }

        let file: String
        let phase: LaunchPhase
        let launch: Int
        let steps: [Step]
        let items: [StatusFile.Item]
        let migration: StatusFile.Migration?
        let census: StatusFile.Census?
        let censusAfter: StatusFile.Census?
    }

    private struct Field: Encodable {
        let field: String
        let old: String
        let new: String
        let differs: Bool
    }

    private struct Details: Encodable {
        let attempt: String
        let findings: [FailureFinding]
        let contract: [Field]
        let launches: [Launch]
        let entitlements: EntitlementReport?
        let diffs: [String: String]
        let problems: [String]
    }

    private enum Key: String, CodingKey {
        case diagnosis
    }

    private let run: RunView
    private let details: Details?

    /// Without `attempt`, the run alone.
    init(_ run: RunView, attempt: AttemptView?, evidence: AttemptEvidence?) {
        self.run = run
        guard let attempt, let evidence else {
            details = nil
            return
        }
        let comparison = ContractComparison(evidence)
        let fields = comparison.rows.map { Field(field: $0.field, old: $0.old, new: $0.new, differs: $0.differs) }
        details = Details(
            attempt: attempt.id,
            findings: FailureFinding.all(attempt, evidence),
            contract: comparison.isEmpty ? [] : fields,
            launches: evidence.launches.map { launch in
                Launch(
                    file: launch.path,
                    phase: launch.status.phase,
                    launch: launch.status.launch,
                    steps: launch.status.steps.map {
                        Launch.Step(what: $0.what, status: $0.status, words: StatusCode($0.status).description)
                    },
                    items: launch.status.items,
                    migration: launch.status.migration,
                    census: launch.status.census,
                    censusAfter: launch.status.censusAfter
                )
            },
            entitlements: evidence.entitlements,
            diffs: evidence.diffs,
            problems: evidence.problems
        )
    }

    func encode(to encoder: any Encoder) throws {
        try run.encode(to: encoder)
        var container = encoder.container(keyedBy: Key.self)
        try container.encodeIfPresent(details, forKey: .diagnosis)
    }
}
