/// A way to break the agents on purpose, which a storm must bring to light.
package enum Breakage: Sendable, CaseIterable {
    case withoutFencing
    case withoutSync
    case storeWithoutSync
    case outlivingLeases

    /// What is switched off.
    package var words: String {
        switch self {
        case .withoutFencing: "agents ignore locks, epochs and terms"
        case .withoutSync: "agents do not synchronise their journals, and the disk forgets"
        case .storeWithoutSync: "the coordinator does not synchronise its store, and the disk forgets"
        case .outlivingLeases: "agents end attempts after their leases, not before"
        }
    }

    /// The environment variables that do it to the agents.
    package var hooks: [String: String] {
        switch self {
        case .storeWithoutSync: [:]
        case .withoutFencing: ["BERTH_HOOK_NO_FENCING": "1"]
        case .withoutSync: ["BERTH_HOOK_NO_SYNC": "1"]
        case .outlivingLeases: ["BERTH_HOOK_LEASE_MARGIN": "-200"]
        }
    }

    /// Makes a storm's agents broken in this way, and its faults such that it matters.
    package func apply(to options: inout FaultOptions) {
        options.hooks = hooks
        if self == .storeWithoutSync { options.coordinatorHooks = ["BERTH_HOOK_NO_SYNC": "1"] }
        switch self {
        case .outlivingLeases: options.mix = .partitions
        case .storeWithoutSync: options.mix = .coordinatorKills
        case .withoutFencing, .withoutSync: break
        }
    }

    /// Whether a finding tells of just this, and not of anything else.
    package func isNoticed(by finding: FaultCheck.Finding) -> Bool {
        switch self {
        case .withoutFencing: finding.count(.overlap, .staleTouch, .repeatedAttempt) > 0
        case .storeWithoutSync:
            finding.count(
                .lostResult,
                .inventedResult,
                .doubledResult,
                .lateTouch,
                .forgottenResult
            ) > 0
        case .withoutSync: finding.count(.staleTouch, .repeatedAttempt, .forgottenResult) > 0
        case .outlivingLeases: finding.count(.lateTouch, .concurrentRun) > 0
        }
    }
}
