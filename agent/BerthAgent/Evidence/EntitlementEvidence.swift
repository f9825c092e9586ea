import BerthArchive
import BerthCore
import CodeSignature

/// What the builds of an attempt's path are entitled to, gathered for the evidence (S1, S2).
struct EntitlementEvidence: Sendable {
    /// A build as our own reader sees it.
    private struct Reading: Sendable {
        let id: Digest
        let identity: CodeIdentity
        var codesignDifference: String?
    }

    /// What the files follow from: builds are immutable.
    struct Key: Hashable {
        fileprivate let ids: [BuildRole: Digest]
        fileprivate let differences: [BuildRole: String]
    }

    private var readings: [BuildRole: Reading] = [:]

    var key: Key {
        Key(ids: readings.mapValues(\.id), differences: readings.compactMapValues(\.codesignDifference))
    }

    /// Whether a build has been read.
    func has(_ role: BuildRole) -> Bool { readings[role] != nil }

    /// Notes what was read of a build.
    mutating func add(_ role: BuildRole, _ id: Digest, _ identity: CodeIdentity) {
        readings[role] = Reading(id: id, identity: identity)
    }

    /// The keychain access groups of a build; nil when it has no entitlements that can be read.
    func accessGroups(_ role: BuildRole) -> [String]? {
        guard let identity = readings[role]?.identity, identity.entitlements != nil else { return nil }
        return identity.accessGroups
    }

    /// Compares a property list that `codesign` printed with what was read.
    mutating func compare(_ role: BuildRole, shown: [UInt8]) {
        guard let identity = readings[role]?.identity, !shown.isEmpty else { return }
        do {
            let value = try XMLPropertyList.read(ByteWindow(bytes: shown, origin: 0))
            guard let difference = CodeIdentity.difference(identity.signedEntitlements, value) else { return }
            readings[role]?.codesignDifference = "codesign shows other entitlements: \(difference)"
        } catch {
            readings[role]?.codesignDifference = "what codesign shows cannot be read: \(error)"
        }
    }

    /// The property lists, the unified diff of each step of the path, and what it means: path to content.
    /// - Throws: `EncodingError`
    func files() throws -> [(path: String, bytes: [UInt8])] {
        let roles = BuildRole.allCases.filter { readings[$0] != nil }
        guard !roles.isEmpty else { return [] }
        var files: [(path: String, bytes: [UInt8])] = []
        for role in roles {
            guard let entitlements = readings[role]?.identity.entitlements else { continue }
            files.append((Self.path(role), Array(entitlements.xml.utf8)))
        }
        var pairs: [(BuildRole, BuildRole)] = []
        if let first = roles.first, let last = roles.last, first != last { pairs.append((first, last)) }
        if roles.count == 3 { pairs += [(roles[0], roles[1]), (roles[1], roles[2])] }
        var comparisons: [EntitlementReport.Comparison] = []
        for (old, new) in pairs {
            guard let before = readings[old], let after = readings[new] else { continue }
            // Against entitlements that nobody could read everything would seem to have changed.
            guard !before.identity.isUnreadable, !after.identity.isUnreadable else { continue }
            let comparison = EntitlementComparison(
                old: before.identity,
                new: after.identity,
                names: (Self.path(old), Self.path(new))
            )
            let path = "entitlements/\(old.rawValue)-\(new.rawValue).diff"
            if !comparison.diff.isEmpty { files.append((path, Array(comparison.diff.utf8))) }
            comparisons.append(
                EntitlementReport.Comparison(
                    old: old,
                    new: new,
                    diff: comparison.diff.isEmpty ? nil : path,
                    changes: comparison.changes.map(EntitlementReport.Change.init)
                )
            )
        }
        let builds = roles.compactMap { role in
            readings[role].map {
                EntitlementReport.Build(
                    role: role,
                    id: $0.id,
                    signing: BuildSigning($0.identity),
                    codesignDifference: $0.codesignDifference
                )
            }
        }
        let report = EntitlementReport(builds: builds, comparisons: comparisons)
        files.append((EntitlementReport.path, try CanonicalJSON.encode(report)))
        return files
    }

    private static func path(_ role: BuildRole) -> String { "entitlements/\(role.rawValue).plist" }
}

extension EntitlementReport.Change {
    /// A change as the reader tells of it.
    init(_ change: EntitlementChange) {
        self.init(
            rule: RuleID(change.rule),
            kind: change.kind.rawValue,
            key: change.key,
            old: change.old,
            new: change.new,
            meaning: change.meaning,
            hidesItems: change.hidesItems
        )
    }
}
