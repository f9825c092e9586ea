/// One launch of a case: what the probe is asked for, and what follows from it.
package struct CaseLaunch: Sendable, Hashable {
    /// A point of a migration at which the probe kills its own process.
    package enum KillPoint: String, Sendable, Hashable, Codable, CaseIterable {
        case afterRead = "after-read"
        case afterAdd = "after-add"
        case afterReadBack = "after-read-back"
        case afterDelete = "after-delete"
    }

    /// What a launch must lead to, other than a status file.
    package enum Expectation: String, Sendable, Hashable, Codable, CaseIterable {
        /// The build must not react to the probe's arguments (B3).
        case silence
    }

    /// What the migration's completion marker is made to say.
    package enum Marker: Sendable, Hashable {
        case version(Int)
        /// The version that the build itself knows.
        case own
        case cleared
    }

    /// What a launch with phase `prepare` does.
    package struct Preparation: Sendable, Hashable {
        package var marker: Marker?
        package var deletesTarget = false
        package var deletesLegacy = false
        /// How many items are added that are not the migration's.
        package var bystanders = 0

        package init(
            marker: Marker? = nil,
            deletesTarget: Bool = false,
            deletesLegacy: Bool = false,
            bystanders: Int = 0
        ) {
            self.marker = marker
            self.deletesTarget = deletesTarget
            self.deletesLegacy = deletesLegacy
            self.bystanders = bystanders
        }
    }

    package var phase: LaunchPhase
    /// A fresh install: the app stores a new item.
    package var creates = false
    /// The seed writes bytes that no app can have written.
    package var isMalformed = false
    package var killAt: KillPoint?
    package var expectation: Expectation?
    package var preparation = Preparation()
    /// The rules that the launch decides.
    package var decides: [RuleID] = []

    package init(_ phase: LaunchPhase, decides: [RuleID] = []) {
        self.phase = phase
        self.decides = decides
    }

    package static let seed = CaseLaunch(.seed)
    package static let cleanup = CaseLaunch(.cleanup)

    package static func verify(_ rules: RuleID..., creates: Bool = false) -> CaseLaunch {
        var launch = CaseLaunch(.verify, decides: rules)
        launch.creates = creates
        return launch
    }

    package static func prepare(_ preparation: Preparation) -> CaseLaunch {
        var launch = CaseLaunch(.prepare)
        launch.preparation = preparation
        return launch
    }

    /// Whether a status file is expected.
    package var leavesStatus: Bool { killAt == nil && expectation == nil }

    /// The launch in words.
    package var title: String {
        var words = ["launch", phase.rawValue]
        if isMalformed { words.append("malformed") }
        if let killAt { words.append("and kill \(killAt.rawValue)") }
        if expectation == .silence { words.append("and expect silence") }
        return words.joined(separator: " ")
    }
}
