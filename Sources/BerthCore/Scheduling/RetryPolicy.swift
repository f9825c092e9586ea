/// How attempts that proved nothing are tried again: by what was to blame.
package enum RetryClass: String, Sendable, Hashable, Codable, CaseIterable {
    /// The builds, the case or their signing: it would be the same everywhere.
    case input
    /// The device or its tool.
    case device
    /// Cleanliness or continuity could not be proved.
    case doubt
    /// Hosts, agents, connections, disks: nothing that the run could help.
    case farm

    /// So many attempts of a run may end so before it is `unproven`.
    package var limit: Int {
        switch self {
        case .input: 1
        case .device, .doubt: 3
        case .farm: 5
        }
    }

    /// So many may end without proof in all.
    package static let totalLimit = 6

    /// What was to blame; nil for an outcome that is not tried again.
    package init?(_ outcome: Outcome, cause: OutcomeCause?) {
        switch outcome {
        case .passed, .failed, .cancelled: return nil
        case .lost: self = .farm
        case .void: self = .doubt
        case .errored:
            let code = cause?.code ?? ""
            self =
                Self.inputCauses.contains(code)
                ? .input
                : Self.farmCauses.contains(code) || code.hasPrefix("cache-") ? .farm : .device
        }
    }

    private static let inputCauses: Set<String> = ["build-refused", "signing-refused", "launch-denied"]
    private static let farmCauses: Set<String> = [
        "agent-stopped", "agent-died", "lease-lost", "journal-unwritable", "disk-full", "state-unwritable",
        "archive-unusable", "transfer-refused", "preparation-timeout", "host-failure",
    ]

    /// Whether it speaks against the slot on which it happened, so that too many in a row take it out of use.
    package var blamesSlot: Bool { self == .device || self == .doubt }
}
