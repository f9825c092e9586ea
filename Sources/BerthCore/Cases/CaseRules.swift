/// What makes a well-formed case file a case that proves what it says.
enum CaseRules {
    static let longestScenario = 2000
    static let mostSteps = 100

    /// Rules that a launch can decide, by what it does.
    static func accepted(_ launch: CaseLaunch) -> [RuleID] {
        if launch.expectation == .silence { return [.productionSilent] }
        switch launch.phase {
        case .verify where launch.killAt == nil:
            return [
                .readable, .migrated, .freshInstall, .dataSought, .groupReachable, .repeatable, .nothingDeleted,
                .originalKept, .errorClear, .bystandersUntouched,
            ]
        case .census: return [.productionSilent]
        case .verify, .seed, .prepare, .cleanup: return []
        }
    }

    /// The first thing that is wrong, and where.
    static func problem(in definition: CaseDefinition) -> (place: String, text: String)? {
        if definition.format != 1 { return ("format", "version \(definition.format) is not known here; 1 is") }
        if !SlotName.isValid(definition.name) {
            return ("name", "a name has letters, digits, dots, dashes and underscores only, at most 64")
        }
        if !(1...1_000_000).contains(definition.version) {
            return ("version", "\(definition.version) must lie between 1 and 1000000")
        }
        if definition.scenario.utf8.count > longestScenario {
            return ("scenario", "it is longer than \(longestScenario) bytes")
        }
        if definition.steps.isEmpty || definition.steps.count > mostSteps {
            return ("steps", "there are \(definition.steps.count) steps; a case has 1 to \(mostSteps)")
        }
        var course = Course(features: definition.features)
        for (index, step) in definition.steps.enumerated() {
            if let text = course.problem(with: step) { return ("steps[\(index)]\(course.key)", text) }
        }
        if let text = course.problemAtEnd { return ("steps", text) }
        return nil
    }

    /// Goes through the steps and remembers what has happened.
    private struct Course {
        let features: [String]
        /// Where in the step the problem lies.
        var key = ""
        private var installed: BuildRole?
        private var isSeeded = false
        private var verifications = 0
        private var silent: BuildRole?
        private var isCounted = false
        private var decided: Set<RuleID> = []

        init(features: [String]) {
            self.features = features
        }

        mutating func problem(with step: CaseStep) -> String? {
            key = ""
            if let feature = step.feature, !features.contains(feature) {
                return "the step needs the feature \(feature); name it in features"
            }
            switch step {
            case .install(let role):
                installed = role
                return nil
            case .launch(let launch): return problem(with: launch)
            case .terminate, .reboot, .fault, .lock, .unlock: return nil
            }
        }

        private mutating func problem(with launch: CaseLaunch) -> String? {
            guard let installed else { return "nothing is installed yet that could be launched" }
            let accepted = CaseRules.accepted(launch)
            if let rule = launch.decides.first(where: { !accepted.contains($0) }) {
                key = ".decides"
                if rule == .secretsStay { return "every case decides D2; leave it out" }
                return accepted.isEmpty
                    ? "a launch like this one decides nothing, so not \(rule)"
                    : "a launch like this one cannot decide \(rule); there are "
                        + accepted.map(\.text).joined(separator: ", ")
            }
            if launch.killAt != nil, launch.expectation != nil { return "killAt and expect exclude each other" }
            decided.formUnion(launch.decides)
            if launch.expectation == .silence {
                silent = installed
                isCounted = false
                return nil
            }
            switch launch.phase {
            case .seed:
                if isSeeded { return "the item is seeded already; a case seeds once" }
                isSeeded = true
            case .verify:
                if launch.decides.contains(.repeatable), verifications == 0 {
                    key = ".decides"
                    return "G2 compares with an earlier launch with phase verify, and there is none"
                }
                if !isSeeded, let rule = launch.decides.first(where: { Self.needsSeed.contains($0) }) {
                    key = ".decides"
                    return "\(rule) is about the old build's item, and no launch before this one seeds it"
                }
                if launch.killAt == nil { verifications += 1 }
            case .census:
                if launch.decides.contains(.productionSilent), silent == nil || silent == installed {
                    key = ".decides"
                    return "B3 is decided by a census of another build after a launch that expects silence"
                }
                if silent != nil, silent != installed { isCounted = true }
            case .prepare:
                if launch.preparation == CaseLaunch.Preparation() {
                    return "it prepares nothing; there are marker, setMarker, clearMarker, deleteTarget, deleteLegacy "
                        + "and bystanders"
                }
            case .cleanup: break
            }
            return nil
        }

        private static let needsSeed: Set<RuleID> = [
            .readable, .migrated, .dataSought, .groupReachable, .nothingDeleted, .originalKept, .errorClear,
        ]

        var problemAtEnd: String? {
            if silent != nil, !isCounted {
                return
                    "silence alone proves no absence: after it, install another build and launch it with phase census"
            }
            if decided.isEmpty { return "no launch decides a rule (decides), so the case would prove nothing" }
            return nil
        }
    }
}
