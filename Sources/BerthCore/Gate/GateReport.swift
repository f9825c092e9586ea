/// The gate's answer for one new build, with what decided it.
package struct GateReport: Sendable, Hashable, Codable {
    package enum Verdict: String, Sendable, Hashable, Codable {
        case pass
        case blocked
        case incomplete
    }

    /// How one demanded case stands.
    package struct Finding: Sendable, Hashable, Codable {
        package enum State: String, Sendable, Hashable, Codable {
            case satisfied
            case broken
            case flaky
            case missing
        }

        package let platform: Platform
        package let caseName: String
        package let state: State
        /// Why, in words.
        package let reason: String
        /// The checks of the entry that decided.
        package let checks: [CheckResult]
        /// Sequence numbers of the ledger entries looked at.
        package let entries: [Int64]
    }

    package let policy: String
    package let path: [Digest]
    /// Names of the path's builds, in order.
    package let buildNames: [String]
    package let verdict: Verdict
    package let findings: [Finding]
    /// Ends of the ledgers that were read.
    package let heads: [LedgerHead]
}
