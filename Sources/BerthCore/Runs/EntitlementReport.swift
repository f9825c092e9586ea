/// `entitlements/comparison.json` of the evidence: what each build of the path is entitled to, and what changed between
/// neighbours (S1).
package struct EntitlementReport: Sendable, Hashable, Codable {
    /// One build of the path.
    package struct Build: Sendable, Hashable, Codable {
        package let role: BuildRole
        package let id: Digest
        package let signing: BuildSigning
        /// How what `codesign` shows differs from what was read here; absent when they agree or it gave no answer.
        package let codesignDifference: String?

        package init(role: BuildRole, id: Digest, signing: BuildSigning, codesignDifference: String? = nil) {
            self.role = role
            self.id = id
            self.signing = signing
            self.codesignDifference = codesignDifference
        }
    }

    /// One entitlement that differs between two builds, and what it means.
    package struct Change: Sendable, Hashable, Codable {
        /// `S1`
        package let rule: RuleID
        /// A stable word such as `group-removed`, part of the interface.
        package let kind: String
        /// The entitlement.
        package let key: String
        package let old: String?
        package let new: String?
        /// What changed and what follows from it.
        package let meaning: String
        /// Whether it can hide an item of the old build from the new one.
        package let hidesItems: Bool

        package init(
            rule: RuleID,
            kind: String,
            key: String,
            old: String?,
            new: String?,
            meaning: String,
            hidesItems: Bool
        ) {
            self.rule = rule
            self.kind = kind
            self.key = key
            self.old = old
            self.new = new
            self.meaning = meaning
            self.hidesItems = hidesItems
        }
    }

    /// Two builds side by side.
    package struct Comparison: Sendable, Hashable, Codable {
        package let old: BuildRole
        package let new: BuildRole
        /// The evidence file with the unified diff; absent when the entitlements are equal.
        package let diff: String?
        /// What hides items comes first.
        package let changes: [Change]

        package init(old: BuildRole, new: BuildRole, diff: String?, changes: [Change]) {
            self.old = old
            self.new = new
            self.diff = diff
            self.changes = changes
        }
    }

    /// Path of the document within the evidence.
    package static let path = "entitlements/comparison.json"
    /// Longest document that is read, in bytes.
    package static let sizeLimit = 4 << 20

    /// 1
    package let format: Int
    /// In the order of the path.
    package let builds: [Build]
    /// From the old to the new build; with a transitional one its steps follow.
    package let comparisons: [Comparison]

    package init(builds: [Build], comparisons: [Comparison]) {
        format = 1
        self.builds = builds
        self.comparisons = comparisons
    }

    /// Parses and checks the version.
    /// - Throws: `FormatError`
    package static func parse(_ bytes: [UInt8]) throws(FormatError) -> EntitlementReport {
        let report = try CanonicalJSON.decode(EntitlementReport.self, from: bytes, document: path)
        guard report.format == 1 else {
            let problem = "version \(report.format) is not known here; 1 is"
            throw FormatError(document: path, place: "format", problem: problem)
        }
        return report
    }
}
