/// Turns ledger entries into a release verdict (G4). Pure: the same entries give the same verdict.
package enum GateEvaluation {
    /// Judges one path of builds.
    /// - Parameters:
    ///   - policy: what the release needs.
    ///   - path: old build to new build; only entries with exactly this path count, and none of a health check.
    ///   - buildNames: what the builds are called, for people.
    ///   - entries: all entries of the ledgers named by `heads`.
    ///   - heads: where the ledgers ended that were read.
    /// - Returns: the verdict with all that decided it.
    package static func evaluate(
        _ policy: GatePolicy,
        path: [Digest],
        buildNames: [String],
        entries: [LedgerEntry],
        heads: [LedgerHead]
    ) -> GateReport {
        var findings: [GateReport.Finding] = []
        for requirement in policy.requirements {
            for name in requirement.cases {
                let concerned = entries.filter {
                    $0.pins.path == path && $0.pins.platform == requirement.platform && $0.pins.caseName == name
                        && $0.ledger == requirement.platform.kind && $0.purpose == nil
                }
                findings.append(finding(requirement.platform, name, concerned))
            }
        }
        let states = findings.map(\.state)
        let verdict: GateReport.Verdict =
            states.contains { $0 == .broken || $0 == .flaky }
            ? .blocked : states.contains(.missing) ? .incomplete : .pass
        return GateReport(
            policy: policy.name,
            path: path,
            buildNames: buildNames,
            verdict: verdict,
            findings: findings,
            heads: heads
        )
    }

    private static func finding(
        _ platform: Platform,
        _ caseName: String,
        _ entries: [LedgerEntry]
    ) -> GateReport.Finding {
        func result(_ state: GateReport.Finding.State, _ reason: String, _ decisive: LedgerEntry?) -> GateReport.Finding
        {
            GateReport.Finding(
                platform: platform,
                caseName: caseName,
                state: state,
                reason: reason,
                checks: decisive?.checks ?? [],
                entries: entries.map(\.sequence)
            )
        }
        let decided = entries.filter { $0.deciding && $0.outcome.decides }
        let failed = decided.last { $0.outcome == .failed }
        let passedPins = Set(decided.filter { $0.outcome == .passed }.map(\.pins))
        if let failed {
            if passedPins.contains(failed.pins) {
                return result(.flaky, "equal pins both passed and failed; a flaky run satisfies no gate", failed)
            }
            return result(.broken, failed.cause?.message ?? "the attempt failed", failed)
        }
        if let passed = decided.last { return result(.satisfied, "entry \(passed.sequence) passed", passed) }
        guard let last = entries.last else {
            return result(.missing, "no run of this case on \(platform.rawValue) is recorded", nil)
        }
        let cause = last.cause.map { ": \($0)" } ?? ""
        return result(.missing, "no attempt gave a proof; the last one ended \(last.outcome.rawValue)\(cause)", last)
    }
}
