import Foundation
import Security
import Testing

@testable import KeychainMigration

@Suite struct KeychainMigratorTests {
    private let fixture = MigratorFixture()
    private var keychain: StandInKeychain { fixture.keychain }

    @Test("C2: the old item is deleted last, after the new one was read back")
    func order() {
        fixture.plant(fixture.legacy)
        let claim = fixture.migrate()
        #expect(claim.outcome == .migrated)
        #expect(claim.wrote)
        #expect(fixture.log() == ["copy new", "copy old", "add new", "copy new", "delete old"])
        #expect(keychain.item(fixture.target)?.data == MigratorFixture.token)
        #expect(keychain.item(fixture.target)?.attributes["pdmn"] as? String == "ck")
        #expect(keychain.item(fixture.legacy) == nil)
        #expect(fixture.markerVersion == 2)
        #expect(claim.steps.map(\.step) == [.readTarget, .readLegacy, .addTarget, .readBack, .deleteLegacy])
    }

    @Test("G2, M3: a second run gives the same result and writes nothing")
    func secondRun() {
        fixture.plant(fixture.legacy)
        _ = fixture.migrate()
        keychain.forgetCalls()
        let claim = fixture.migrate()
        #expect(
            claim
                == KeychainMigrationClaim(
                    outcome: .alreadyMigrated,
                    wrote: false,
                    steps: [KeychainStepRecord(step: .readTarget, status: errSecSuccess)]
                )
        )
        #expect(fixture.log() == ["copy new"])
        #expect(fixture.markerWrites == 1)
    }

    @Test("Without an old or a new item nothing is written, the marker neither")
    func nothingToMigrate() {
        #expect(fixture.migrate().outcome == .nothingToMigrate)
        #expect(keychain.writes.isEmpty)
        #expect(fixture.markerVersion == nil)
    }

    @Test("C4: a marker without the data does not keep the old item from being migrated")
    func markerWithoutData() {
        fixture.markerVersion = 2
        fixture.plant(fixture.legacy)
        #expect(fixture.migrate().outcome == .migrated)
        #expect(keychain.item(fixture.target)?.data == MigratorFixture.token)
    }

    @Test("The new item counts as migrated without a marker, and its marker is made good once")
    func targetWithoutMarker() {
        fixture.plant(fixture.target)
        #expect(
            fixture.migrate()
                == KeychainMigrationClaim(
                    outcome: .alreadyMigrated,
                    wrote: false,
                    steps: [
                        KeychainStepRecord(step: .readTarget, status: errSecSuccess),
                        KeychainStepRecord(step: .readLegacy, status: errSecItemNotFound),
                    ]
                )
        )
        #expect(fixture.migrate().wrote == false)
        #expect(fixture.markerWrites == 1)
    }

    @Test("C5: whatever fails, the old item keeps its data, the marker stays unset, and the next run completes")
    func faults() {
        let faults: [(StandInKeychain.Call, Int, KeychainMigrationStep)] = [
            (.init(operation: .copy, service: "new"), 1, .readTarget),
            (.init(operation: .copy, service: "old"), 1, .readLegacy),
            (.init(operation: .add, service: "new"), 1, .addTarget),
            (.init(operation: .copy, service: "new"), 2, .readBack),
            (.init(operation: .delete, service: "old"), 1, .deleteLegacy),
        ]
        for (call, number, step) in faults {
            for status in [errSecInteractionNotAllowed, errSecMissingEntitlement, errSecNotAvailable] {
                let fixture = MigratorFixture()
                fixture.plant(fixture.legacy)
                fixture.keychain.fault = { $0 == call && $1 == number ? status : nil }
                let claim = fixture.migrate()
                #expect(claim.outcome == .failed)
                #expect(claim.failure == KeychainMigrationFailure(step: step, cause: .status(status)))
                #expect(claim.steps.last == KeychainStepRecord(step: step, status: status))
                #expect(claim.wrote == fixture.keychain.items.contains { $0.attributes["svce"] as? String == "new" })
                #expect(fixture.keychain.item(fixture.legacy)?.data == MigratorFixture.token)
                #expect(fixture.markerVersion == nil)

                fixture.keychain.fault = { _, _ in nil }
                #expect(fixture.migrate().failure == nil)
                #expect(fixture.keychain.item(fixture.target)?.data == MigratorFixture.token)
                #expect(fixture.keychain.item(fixture.legacy) == nil, "a run after a failed \(step) left the old item")
                #expect(fixture.markerVersion == 2)
            }
        }
    }

    @Test("A new item that vanishes before it is read back does not cost the old one")
    func vanishingCopy() {
        fixture.plant(fixture.legacy)
        keychain.fault = { call, number in
            call == .init(operation: .copy, service: "new") && number == 2 ? errSecItemNotFound : nil
        }
        #expect(fixture.migrate().failure == .init(step: .readBack, cause: .status(errSecItemNotFound)))
        #expect(keychain.item(fixture.legacy) != nil)
    }

    @Test("A new item that reads back otherwise does not cost the old one, at this start or the next")
    func differingCopy() {
        fixture.plant(fixture.legacy)
        keychain.afterCall = { [fixture] call in
            if call.operation == .add {
                fixture.keychain.replaceData(of: fixture.target, with: Data("other".utf8))
            }
        }
        #expect(fixture.migrate().failure == .init(step: .readBack, cause: .contentDiffers))
        #expect(fixture.migrate().failure == .init(step: .readLegacy, cause: .contentDiffers))
        #expect(keychain.item(fixture.legacy)?.data == MigratorFixture.token)
        #expect(fixture.markerVersion == nil)
    }

    @Test("A duplicate on add is accepted when its content is equal", arguments: [true, false])
    func duplicate(isEqual: Bool) {
        fixture.plant(fixture.legacy)
        // Another process adds the item between the first read and the add.
        let racing = Data((isEqual ? "old-token" : "other").utf8)
        var isPlanted = false
        keychain.afterCall = { [fixture] call in
            if call.service == "old", !isPlanted {
                isPlanted = true
                _ = fixture.keychain.access.add(fixture.target.addQuery(racing))
            }
        }
        let claim = fixture.migrate()
        #expect(claim.steps.contains(.init(step: .addTarget, status: errSecDuplicateItem)))
        if isEqual {
            #expect(claim.outcome == .migrated)
            #expect(keychain.item(fixture.legacy) == nil)
        } else {
            #expect(claim.failure == .init(step: .readBack, cause: .contentDiffers))
            #expect(keychain.item(fixture.legacy)?.data == MigratorFixture.token)
            #expect(keychain.item(fixture.target)?.data == racing)
            #expect(!keychain.calls.contains { $0.operation == .delete })
        }
    }

    @Test("M4, G3: a malformed old item is kept as it is and named")
    func malformed() {
        fixture.plant(fixture.legacy, Data([0xff, 0x00]))
        fixture.isWellFormed = { String(data: $0, encoding: .utf8) != nil }
        let claim = fixture.migrate()
        #expect(claim.failure == .init(step: .readLegacy, cause: .malformed))
        #expect(keychain.writes.isEmpty)
        #expect(keychain.item(fixture.legacy)?.data == Data([0xff, 0x00]))
    }

    @Test("An old item whose accessibility is not the contract's is found nevertheless")
    func accessibilityIsNoFilter() {
        var stored = fixture.legacy
        stored.accessible = .afterFirstUnlockThisDeviceOnly
        fixture.plant(stored)
        #expect(fixture.migrate().outcome == .migrated)
    }

    @Test("Contracts that differ in accessibility only are migrated in place, without a moment without the item")
    func accessibilityOnly() {
        fixture.target = fixture.legacy
        fixture.target.accessible = .afterFirstUnlock
        fixture.plant(fixture.legacy)
        #expect(fixture.migrate().outcome == .migrated)
        #expect(fixture.log() == ["copy old", "update old", "copy old"])
        #expect(keychain.item(fixture.legacy)?.attributes["pdmn"] as? String == "ck")
        #expect(keychain.item(fixture.legacy)?.data == MigratorFixture.token)
        keychain.forgetCalls()
        #expect(fixture.migrate().outcome == .alreadyMigrated)
        #expect(keychain.writes.isEmpty)
    }

    @Test("S3: an item moves between groups, and only the one in the old group is deleted")
    func betweenGroups() {
        let fixture = MigratorFixture(groups: ["TEAM.old", "TEAM.new"])
        fixture.legacy.accessGroup = nil
        fixture.target = fixture.legacy
        fixture.target.accessGroup = "TEAM.new"
        fixture.plant(fixture.legacy)
        #expect(fixture.migrate().outcome == .migrated)
        #expect(fixture.keychain.items.map { $0.attributes["agrp"] as? String } == ["TEAM.new"])
        #expect(fixture.keychain.item(fixture.target)?.data == MigratorFixture.token)
        fixture.markerVersion = nil
        #expect(fixture.migrate().outcome == .alreadyMigrated)
        #expect(fixture.keychain.items.count == 1)
    }

    @Test("Contracts that cannot be told apart are refused before anything is touched")
    func ambiguous() {
        fixture.target = fixture.legacy
        fixture.legacy.accessGroup = "TEAM.app"
        fixture.plant(fixture.legacy)
        #expect(fixture.migrate().failure?.cause == .ambiguousContracts)
        #expect(keychain.calls.isEmpty)
    }

    @Test("M5: an old group that this build may not use is a failure with its OSStatus, not nothing to migrate")
    func foreignGroup() {
        fixture.plant(fixture.legacy)
        keychain.groups = ["TEAM.other"]
        fixture.legacy.accessGroup = "TEAM.app"
        #expect(fixture.migrate().failure == .init(step: .readLegacy, cause: .status(errSecMissingEntitlement)))
        #expect(keychain.writes.isEmpty)
    }
}
