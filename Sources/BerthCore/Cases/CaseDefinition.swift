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
    /// The rules that the case decides.
    package let checks: [RuleID]
    package let steps: [CaseStep]

    package init(
        name: String,
        version: Int,
        scenario: String,
        features: [String] = [],
        checks: [RuleID],
        steps: [CaseStep]
    ) {
        format = 1
        self.name = name
        self.version = version
        self.scenario = scenario
        self.features = features
        self.checks = checks
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
        features = try container.decode([String].self, forKey: .features)
        checks = try container.decode([RuleID].self, forKey: .checks)
        steps = try container.decode([CaseStep].self, forKey: .steps)
    }

    /// Reads and checks a case file.
    /// - Throws: `FormatError`
    package static func parse(_ bytes: [UInt8]) throws(FormatError) -> CaseDefinition {
        let definition = try CanonicalJSON.decode(CaseDefinition.self, from: bytes, document: "case file")
        guard definition.format == 1 else {
            throw FormatError(
                document: "case file",
                place: "format",
                problem: "version \(definition.format) is not known here; 1 is"
            )
        }
        var installed = false
        for (index, step) in definition.steps.enumerated() {
            if case .install = step { installed = true }
            if case .launch = step, !installed {
                throw FormatError(
                    document: "case file",
                    place: "steps[\(index)]",
                    problem: "nothing is installed yet that could be launched"
                )
            }
        }
        guard definition.steps.contains(where: { $0.isVerification }) else {
            throw FormatError(
                document: "case file",
                place: "steps",
                problem: "no launch with phase verify: the case would prove nothing"
            )
        }
        return definition
    }

    /// Whether the case needs an old build.
    package var needsOldBuild: Bool { steps.contains(.install(.old)) }
}
