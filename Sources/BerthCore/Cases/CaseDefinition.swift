/// A versioned scenario (docs/formats.md, case file).
package struct CaseDefinition: Sendable, Hashable, Codable {
    /// 1
    package let format: Int
    package let name: String
    package let version: Int
    /// The scenario in words.
    package let scenario: String
    /// What a slot must offer beyond the basics.
    package let features: [String]
    /// The rules that the case decides: those of its launches, and D2.
    package let checks: [RuleID]
    package let steps: [CaseStep]

    /// A case whose checks and features follow from its steps; `features` names what a slot must offer besides.
    package init(name: String, version: Int, scenario: String, features: [String] = [], steps: [CaseStep]) {
        format = 1
        self.name = name
        self.version = version
        self.scenario = scenario
        self.features = Set(features).union(steps.compactMap(\.feature)).sorted()
        checks = Self.checks(of: steps)
        self.steps = steps
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case format
        case name
        case version
        case scenario
        case features
        case checks
        case steps
    }

    package init(from decoder: any Decoder) throws {
        try decoder.refuseUnknownKeys(besides: CodingKeys.allCases.map(\.stringValue))
        let container = try decoder.container(keyedBy: CodingKeys.self)
        format = try container.decode(Int.self, forKey: .format)
        name = try container.decode(String.self, forKey: .name)
        version = try container.decode(Int.self, forKey: .version)
        scenario = try container.decode(String.self, forKey: .scenario)
        let features = try container.decodeIfPresent([String].self, forKey: .features) ?? []
        steps = try container.decode([CaseStep].self, forKey: .steps)
        self.features = Set(features).sorted()
        checks = Self.checks(of: steps)
        if let unknown = features.first(where: { !SlotFeature.all.contains($0) }) {
            throw DecodingError.dataCorruptedError(
                forKey: .features,
                in: container,
                debugDescription: "\(unknown.debugDescription) is no feature; there are "
                    + SlotFeature.all.joined(separator: ", ")
            )
        }
        if let stated = try container.decodeIfPresent([RuleID].self, forKey: .checks),
            Set(stated).union([.secretsStay]) != Set(checks)
        {
            let words = checks.map(\.text).joined(separator: ", ")
            throw DecodingError.dataCorruptedError(
                forKey: .checks,
                in: container,
                debugDescription: "the launches of the case decide \(words); leave checks out or name exactly these"
            )
        }
    }

    /// The union of what the launches decide, in the order of their first mention, and D2.
    private static func checks(of steps: [CaseStep]) -> [RuleID] {
        var checks: [RuleID] = []
        for case .launch(let launch) in steps {
            for rule in launch.decides where !checks.contains(rule) { checks.append(rule) }
        }
        return checks + [.secretsStay]
    }

    /// Reads and checks a case file.
    /// - Throws: `FormatError` with the line
    package static func parse(_ bytes: [UInt8], document: String = "case file") throws(FormatError) -> CaseDefinition {
        let positions = JSONPositions(bytes)
        if let problem = positions.problem {
            throw FormatError(document: document, line: problem.line, problem: problem.text)
        }
        do throws(FormatError) {
            let definition = try CanonicalJSON.decode(CaseDefinition.self, from: bytes, document: document)
            if let problem = CaseRules.problem(in: definition) {
                throw FormatError(document: document, place: problem.place, problem: problem.text)
            }
            return definition
        } catch {
            throw error.at(line: positions.line(of: error.place))
        }
    }

    /// The launches, in order.
    package var launches: [CaseLaunch] {
        steps.compactMap { if case .launch(let launch) = $0 { launch } else { nil } }
    }

    /// Whether an item of the old build is seeded.
    package var hasSeed: Bool { launches.contains { $0.phase == .seed && $0.leavesStatus } }

    /// The builds that are installed.
    package var roles: Set<BuildRole> {
        Set(steps.compactMap { if case .install(let role) = $0 { role } else { nil } })
    }
}
