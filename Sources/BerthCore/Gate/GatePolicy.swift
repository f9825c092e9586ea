/// What a release needs (docs/formats.md, gate policy).
package struct GatePolicy: Sendable, Hashable, Codable {
    /// Cases that must have passed on a platform.
    package struct Requirement: Sendable, Hashable, Codable {
        package let platform: Platform
        package let cases: [String]

        package init(platform: Platform, cases: [String]) {
            self.platform = platform
            self.cases = cases
        }
    }

    /// 1
    package let format: Int
    package let name: String
    package let requirements: [Requirement]

    package init(name: String, requirements: [Requirement]) {
        format = 1
        self.name = name
        self.requirements = requirements
    }

    /// Simulator and hardware, as the specification asks (H1, H2).
    package static let standard = GatePolicy(
        name: "standard",
        requirements: [
            Requirement(platform: .iosSimulator, cases: BuiltInCases.ofTwoBuilds.map(\.name)),
            Requirement(platform: .iosDevice, cases: BuiltInCases.ofTwoBuilds.map(\.name)),
        ]
    )

    /// Reads and checks a policy file.
    /// - Throws: `FormatError`
    package static func parse(_ bytes: [UInt8]) throws(FormatError) -> GatePolicy {
        let policy = try CanonicalJSON.decode(GatePolicy.self, from: bytes, document: "gate policy")
        guard policy.format == 1 else {
            throw FormatError(
                document: "gate policy",
                place: "format",
                problem: "version \(policy.format) is not known here; 1 is"
            )
        }
        guard !policy.requirements.isEmpty, policy.requirements.allSatisfy({ !$0.cases.isEmpty }) else {
            throw FormatError(
                document: "gate policy",
                place: "requirements",
                problem: "a policy that asks for nothing would let everything pass"
            )
        }
        return policy
    }
}
