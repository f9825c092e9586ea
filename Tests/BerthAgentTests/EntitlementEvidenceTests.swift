import BerthArchive
import BerthCore
import CodeSignature
import Testing

@testable import BerthAgent

@Suite("Entitlements in the evidence")
struct EntitlementEvidenceTests {
    private func identity(_ groups: [String], team: String? = nil) -> CodeIdentity {
        let value = PropertyListValue.dictionary(["keychain-access-groups": .array(groups.map { .string($0) })])
        return CodeIdentity(teamIdentifier: team, entitlements: value, source: .signature, signedEntitlements: value)
    }

    private func report(_ evidence: EntitlementEvidence) throws -> (EntitlementReport, [String: String]) {
        let files = Dictionary(uniqueKeysWithValues: try evidence.files().map { ($0.path, $0.bytes) })
        let bytes = try #require(files[EntitlementReport.path])
        return (try EntitlementReport.parse(bytes), files.mapValues { String(decoding: $0, as: UTF8.self) })
    }

    private let digest = Digest.sha256(of: [])

    @Test("S3: a transitional build has both groups, and each step of the path has a diff of its own")
    func transitional() throws {
        var evidence = EntitlementEvidence()
        evidence.add(.old, digest, identity(["T.old"]))
        evidence.add(.transitional, digest, identity(["T.old", "T.new"]))
        evidence.add(.new, digest, identity(["T.new"]))
        let (report, files) = try report(evidence)
        #expect(
            report.comparisons.map { [$0.old, $0.new] } == [
                [.old, .new], [.old, .transitional], [.transitional, .new],
            ]
        )
        #expect(report.comparisons.map { $0.changes.map(\.kind) }[1] == ["group-added"])
        #expect(report.comparisons[2].changes.first?.hidesItems == true)
        #expect(files["entitlements/transitional-new.diff"]?.contains("-\t\t<string>T.old</string>") == true)
        #expect(files["entitlements/old.plist"]?.contains("T.old") == true && files.count == 7)
        #expect(evidence.accessGroups(.transitional) == ["T.old", "T.new"])
    }

    @Test("What codesign shows otherwise is noted; the same in another spelling is not")
    func codesign() throws {
        func shown(_ group: String) -> [UInt8] {
            let text =
                "<plist version=\"1.0\"><dict><key>keychain-access-groups</key><array><string>\(group)</string></array>"
            return Array("\(text)</dict></plist>".utf8)
        }
        var evidence = EntitlementEvidence()
        evidence.add(.old, digest, identity(["T.app"]))
        evidence.add(.new, digest, identity(["T.app"]))
        evidence.compare(.old, shown: shown("T.app"))
        evidence.compare(.new, shown: shown("T.other"))
        let (report, files) = try report(evidence)
        #expect(report.builds[0].codesignDifference == nil)
        #expect(report.builds[1].codesignDifference == "codesign shows other entitlements: keychain-access-groups")
        #expect(report.comparisons.first?.changes.isEmpty == true && files["entitlements/old-new.diff"] == nil)
    }

    @Test("Against entitlements that cannot be read nothing is compared")
    func unreadable() throws {
        var evidence = EntitlementEvidence()
        evidence.add(.old, digest, identity(["T.app"]))
        evidence.add(.new, digest, CodeIdentity(entitlements: nil, source: nil, isUnreadable: true, notes: ["cut off"]))
        let (report, files) = try report(evidence)
        #expect(report.comparisons.isEmpty && report.builds.last?.signing.notes == ["cut off"])
        #expect(files["entitlements/new.plist"] == nil && evidence.accessGroups(.new) == nil)
    }
}
