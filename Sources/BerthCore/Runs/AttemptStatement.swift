/// What an agent signs about an ended attempt: all of it stands in the ledger entry too, so a signature can be checked
/// from the ledger alone.
package struct AttemptStatement: Sendable, Hashable, Codable {
    /// 1
    package let format: Int
    package let run: String
    package let attempt: String
    package let epoch: UInt64
    package let outcome: Outcome
    package let checks: [CheckResult]
    package let evidence: Digest?

    /// What a report states.
    package init(_ report: AttemptReport) {
        format = 1
        run = report.run
        attempt = report.attempt
        epoch = report.epoch
        outcome = report.outcome
        checks = report.checks
        evidence = report.evidence
    }

    /// What a ledger entry says that was stated.
    package init(_ entry: LedgerEntry) {
        format = 1
        run = entry.run
        attempt = entry.attempt
        epoch = entry.epoch
        outcome = entry.outcome
        checks = entry.checks
        evidence = entry.evidence
    }
}

/// An agent's Ed25519 signature over an `AttemptStatement`'s canonical bytes.
package struct AgentSignature: Sendable, Hashable, Codable {
    /// The public key: 64 hexadecimal digits.
    package let key: String
    /// 128 hexadecimal digits.
    package let signature: String

    package init(key: String, signature: String) {
        self.key = key
        self.signature = signature
    }
}
