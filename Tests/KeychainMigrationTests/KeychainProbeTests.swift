import Foundation
import Security
import Testing

@testable import KeychainMigration

@Suite struct KeychainProbeTests {
    private let fixture: ProbeFixture
    private let nonce = ["-BerthNonce", ProbeFixture.nonce]
    private let seed = "-UITestSeedLegacyKeychain"
    private let verify = "-UITestVerifyKeychainV2"

    init() throws {
        fixture = try ProbeFixture()
    }

    private func plant(_ service: String, _ account: String) {
        let contract = KeychainItemContract(service: service, account: account, accessible: .whenUnlocked)
        _ = fixture.keychain.access.add(contract.addQuery(Data("bystander".utf8)))
    }

    @Test(
        "B5: a seed writes the suffixed item, reads it back and says so; the next build verifies, cleanup leaves nothing"
    )
    func wholePath() throws {
        plant("someone", "else")
        let seeded = try fixture.status([seed, "-BerthEpoch", "7"] + nonce, isLegacy: true)
        #expect(seeded.result == "succeeded")
        #expect(seeded.steps.map(\.what) == ["census", "seed", "read-legacy", "census-after"])
        #expect(seeded.item("legacy")?.contract.service == "old" + ProbeFixture.suffix)
        #expect(seeded.item("legacy")?.contract.account == "user" + ProbeFixture.suffix)
        #expect(seeded.item("legacy")?.contract.accessGroup == "TEAM.app")
        #expect(seeded.item("legacy")?.content == "matches")
        #expect(seeded.item("target") == nil)
        #expect(seeded.epochMarker == nil)
        #expect(seeded.migration == nil)

        let digest = SHA256.name(of: fixture.canary)
        let verified = try fixture.status([verify, "-BerthEpoch", "7", "-BerthExpectedDigest", digest] + nonce)
        #expect(verified.result == "succeeded")
        #expect(verified.launch == 2)
        #expect(verified.epochMarker == 7)
        #expect(verified.migration?.outcome == "migrated")
        #expect(verified.migration?.markerBefore == nil)
        #expect(verified.migration?.markerAfter == 2)
        #expect(verified.item("target")?.content == "matches")
        #expect(verified.item("target")?.contract.accessible == "ck")
        #expect(verified.item("target")?.reference?.hasPrefix("sha256:") == true)
        #expect(verified.item("legacy")?.read == "missing")
        #expect(verified.steps.contains(.init(what: "migrate-delete-legacy", status: 0)))
        #expect(verified.census?.ownSuffix == 1)
        #expect(verified.census?.bystanders == 1)
        #expect(verified.census?.bystandersDigest == seeded.census?.bystandersDigest)

        let again = try fixture.status([verify] + nonce)
        #expect(again.migration?.outcome == "already-migrated")
        #expect(again.migration?.wrote == false)
        #expect(again.item("target")?.reference == verified.item("target")?.reference)

        let cleaned = try fixture.status(["-BerthCleanUp"] + nonce)
        #expect(cleaned.result == "succeeded")
        #expect(cleaned.censusAfter?.ownSuffix == 0)
        #expect(cleaned.censusAfter?.bystandersDigest == cleaned.census?.bystandersDigest)
        #expect(fixture.keychain.items.map { $0.attributes["svce"] as? String } == ["someone"])
        #expect(try fixture.statusFiles() == ["1-seed.json", "2-verify.json", "3-verify.json", "4-cleanup.json"])
    }

    @Test("D2: no byte that the probe leaves holds the value, plain or encoded")
    func noValueAnywhere() throws {
        _ = try fixture.status([seed] + nonce, isLegacy: true)
        #expect(fixture.keychain.items.first?.data == fixture.canary)
        fixture.keychain.fault = { call, _ in call.operation == .add ? errSecNotAvailable : nil }
        _ = try fixture.status([verify] + nonce)
        fixture.keychain.fault = { _, _ in nil }
        _ = try fixture.status([verify] + nonce)

        let text = String(decoding: fixture.canary, as: UTF8.self)
        let json = String(decoding: try JSONEncoder().encode([text]), as: UTF8.self).dropFirst(2).dropLast(2)
        let plainJSON = json.replacingOccurrences(of: "\\/", with: "/")
        let encodings = [
            text, String(json), plainJSON, fixture.canary.base64EncodedString(), Hexadecimal.encode(fixture.canary),
        ]
        let names = try FileManager.default.contentsOfDirectory(atPath: fixture.folder.path)
        #expect(names.count >= 5)
        for name in names {
            let bytes = try Data(contentsOf: fixture.folder.appendingPathComponent(name))
            for encoding in encodings {
                #expect(bytes.range(of: Data(encoding.utf8)) == nil, "\(name) holds the value")
            }
        }
    }

    @Test("B3: a build without the probe enabled leaves no file and makes no keychain call")
    func disabled() throws {
        #expect(fixture.launch([seed] + nonce, isEnabled: false) == nil)
        #expect(fixture.launch(["-BerthNonsense"], isEnabled: false) == nil)
        #expect(fixture.launch(["-AppleLanguages", "(en)", "--verbose"]) == nil)
        #expect(fixture.keychain.calls.isEmpty)
        #expect(try FileManager.default.contentsOfDirectory(atPath: fixture.documents.path) == [])
    }

    @Test("The verdict comes from the probe's own read, whatever the migration claims (C5)")
    func believesNothing() throws {
        _ = try fixture.status([seed] + nonce, isLegacy: true)
        fixture.migration = { _, _ in KeychainMigrationClaim(outcome: .migrated, wrote: true) }
        let status = try fixture.status([verify] + nonce)
        #expect(status.migration?.outcome == "migrated")
        #expect(status.result == "failed")
        #expect(status.item("target")?.read == "missing")
        #expect(status.item("legacy")?.content == "matches")
        #expect(status.reason == "the target item is missing")
    }

    @Test("Content that is not the expected one differs, and an unreadable item keeps its OSStatus (D1)")
    func contentAndFailure() throws {
        _ = try fixture.status([seed] + nonce, isLegacy: true)
        let other = SHA256.name(of: Data("other".utf8))
        let differing = try fixture.status([verify, "-BerthExpectedDigest", other] + nonce)
        #expect(differing.item("target")?.content == "differs")
        #expect(differing.result == "failed")

        fixture.keychain.fault = { call, _ in call.operation == .copy ? errSecInteractionNotAllowed : nil }
        let locked = try fixture.status([verify] + nonce)
        #expect(locked.census == nil)
        #expect(locked.steps.first == .init(what: "census", status: Int(errSecInteractionNotAllowed)))
        #expect(locked.item("target")?.read == "failed")
        #expect(locked.item("target")?.status == Int(errSecInteractionNotAllowed))
        #expect(locked.migration?.status == Int(errSecInteractionNotAllowed))
        #expect(locked.result == "failed")
    }

    @Test("M1: a fresh install migrates nothing and creates the item in its current form")
    func freshInstall() throws {
        let status = try fixture.status([verify, "-BerthCreate"] + nonce)
        #expect(status.result == "succeeded")
        #expect(status.migration?.outcome == "created")
        #expect(status.steps.map(\.what).contains("migrate"))
        #expect(status.item("target")?.content == "matches")
    }

    @Test("Without a nonce each seed makes its own and later launches use it (B4)")
    func ownNonce() throws {
        let first = try fixture.status([seed], isLegacy: true)
        let second = try fixture.status([seed], isLegacy: true)
        #expect(first.nonce != second.nonce)
        #expect(first.result == "succeeded")
        #expect(second.result == "succeeded")
        #expect(second.census?.otherSuffixes == 1)
        let verified = try fixture.status([verify])
        #expect(verified.nonce == second.nonce)
        #expect(verified.result == "succeeded")
        #expect(try fixture.status(["-BerthCleanUp"]).nonce == second.nonce)
        #expect(fixture.keychain.items.count == 1)
    }

    @Test("X2: a seed that meets items of its own attempt writes nothing")
    func dirtySeed() throws {
        plant("left" + ProbeFixture.suffix, "over" + ProbeFixture.suffix)
        plant("left" + ProbeFixture.suffix, "no suffix")
        fixture.keychain.forgetCalls()
        let status = try fixture.status([seed] + nonce, isLegacy: true)
        #expect(status.result == "failed")
        #expect(status.census?.ownSuffix == 1)
        #expect(status.census?.bystanders == 1)
        #expect(fixture.keychain.writes.isEmpty)
    }

    @Test("E1: a cleanup that hits a bystander, or leaves an item, fails")
    func unexactCleanup() throws {
        plant("someone", "else")
        _ = try fixture.status([seed] + nonce, isLegacy: true)
        fixture.delete = { _ in errSecSuccess }
        let idle = try fixture.status(["-BerthCleanUp"] + nonce, isLegacy: true)
        #expect(idle.reason == "1 of this attempt's items are left")
        let keychain = fixture.keychain.access
        fixture.delete = { _ in keychain.delete([kSecClass: kSecClassGenericPassword]) }
        let broad = try fixture.status(["-BerthCleanUp"] + nonce, isLegacy: true)
        #expect(broad.censusAfter?.bystanders == 0)
        #expect(broad.reason == "bystanders changed while this attempt's items were deleted")
    }

    @Test("A rewritten bystander shows in the census, although no attribute but its date changed")
    func bystanderDigest() throws {
        plant("someone", "else")
        let before = try fixture.status([seed] + nonce, isLegacy: true)
        _ = fixture.keychain.access.update([kSecAttrService: "someone"], [kSecAttrAccount: "else"])
        let after = try fixture.status([verify] + nonce)
        #expect(after.census?.bystanders == before.census?.bystanders)
        #expect(after.census?.bystandersDigest != before.census?.bystandersDigest)
    }

    @Test(
        "Malformed arguments touch nothing in the keychain, and the status file names them",
        arguments: [
            (["-BerthNonce", "5f1c"], "-BerthNonce"),
            (["-BerthNonce", "zf1c0a9be2d34477a8c0d1e2f3a4b5c6"], "-BerthNonce"),
            (["-BerthNonce"], "-BerthNonce"),
            (["-BerthEpoch", "-1"], "-BerthEpoch"),
            (["-BerthEpoch", "seven"], "-BerthEpoch"),
            (["-BerthExpectedDigest", "sha256:00"], "-BerthExpectedDigest"),
            (["-BerthEpoch", "1", "-BerthEpoch", "1"], "-BerthEpoch"),
            (["-BerthEpoche", "1"], "-BerthEpoche"),
            (["-BerthCreate"], "-BerthCreate"),
            (["-BerthKillAt", "after-add"], "-BerthKillAt"),
            (["-BerthBystanders", "2"], "-BerthBystanders"),
            (["-BerthSetMarker"], "-BerthSetMarker"),
            (["-BerthMarker", "two"], "-BerthMarker"),
        ]
    )
    func malformed(arguments: [String], name: String) throws {
        let status = try fixture.status([seed] + arguments)
        #expect(status.result == "failed")
        #expect(status.reason?.contains(name) == true)
        #expect(fixture.complaints.first?.contains(name) == true)
        #expect(fixture.keychain.calls.isEmpty)
    }

    @Test("A preparation sets the marker, deletes and adds, and proves it; a cleanup takes its items away again")
    func preparation() throws {
        let prepare = "-BerthPrepare"
        let added = try fixture.status([prepare, "-BerthBystanders", "3"] + nonce, isLegacy: true)
        #expect(added.result == "succeeded" && added.census?.bystanders == 0 && added.censusAfter?.bystanders == 3)
        _ = try fixture.status([seed] + nonce, isLegacy: true)
        let set = try fixture.status([prepare, "-BerthSetMarker", "-BerthDeleteTarget"] + nonce)
        #expect(set.result == "succeeded" && fixture.markerVersion == 2)
        #expect(set.census?.bystanders == 3 && set.censusAfter?.ownSuffix == 1)
        _ = try fixture.status([prepare, "-BerthMarker", "7"] + nonce)
        #expect(fixture.markerVersion == 7)
        _ = try fixture.status([prepare, "-BerthClearMarker", "-BerthDeleteLegacy"] + nonce)
        #expect(fixture.markerVersion == nil)
        let counted = try fixture.status(["-BerthCensus"] + nonce)
        #expect(counted.census?.ownSuffix == 0 && counted.census?.bystanders == 3 && counted.censusAfter == nil)
        let cleaned = try fixture.status(["-BerthCleanUp"] + nonce)
        // What was counted afterwards is what the app left; the probe's own items go last.
        #expect(cleaned.result == "succeeded" && cleaned.censusAfter?.bystanders == 3)
        #expect(try fixture.status(["-BerthCensus"] + nonce).census?.bystanders == 0)
        let impossible = try fixture.status([prepare, "-BerthDeleteTarget"] + nonce, isLegacy: true)
        #expect(impossible.result == "failed" && impossible.reason?.contains("no target") == true)
    }

    @Test("M4: a malformed seed is found as such, and the expected digest is that of its bytes")
    func malformedSeed() throws {
        let seeded = try fixture.status([seed, "-BerthMalformed"] + nonce, isLegacy: true)
        #expect(seeded.result == "succeeded" && seeded.item("legacy")?.content == "matches")
        let digest = SHA256.name(of: fixture.canary + Data([0x00, 0xff]))
        let verified = try fixture.status([verify, "-BerthExpectedDigest", digest] + nonce)
        #expect(verified.item("target")?.content == "matches")
        #expect(try fixture.status([verify] + nonce).item("target")?.content == "differs")
    }

    @Test("Arguments without one phase end with 64 and no status file", arguments: [[], ["-UITestVerifyKeychainV2"]])
    func noPhase(phases: [String]) throws {
        let seeds = phases.isEmpty ? [] : [seed]
        let outcome = try #require(fixture.launch(seeds + phases + nonce))
        #expect(outcome.exitCode == 64)
        #expect(outcome.statusFile == nil)
        #expect(fixture.complaints.first?.contains(seed) == true)
        #expect(fixture.keychain.calls.isEmpty)
    }

    @Test("A status file that cannot be written ends with 74 and the path on standard error")
    func unwritable() throws {
        try Data().write(to: fixture.folder)
        let outcome = try #require(fixture.launch([seed] + nonce))
        #expect(outcome.exitCode == 74)
        #expect(fixture.complaints.first?.contains(fixture.folder.path) == true)
        #expect(fixture.keychain.calls.isEmpty)
    }

    @Test("A damaged launch counter never makes a launch overwrite an earlier status file")
    func damagedCounter() throws {
        _ = try fixture.status([seed] + nonce, isLegacy: true)
        try Data("garbage".utf8).write(to: fixture.folder.appendingPathComponent(".launch"))
        #expect(try fixture.status([verify] + nonce).launch == 2)
        #expect(try fixture.statusFiles() == ["1-seed.json", "2-verify.json"])
    }
}
