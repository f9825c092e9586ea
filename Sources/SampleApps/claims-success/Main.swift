import Foundation
import KeychainMigration
import SampleAppSupport
import Security

/// Version 2.0, build 22: its migration reports success and sets the marker, and touches no item.
///
/// Who believes the migration function sees nothing wrong (C5); only a read of the item tells.
@main struct Main {
    static let schemaVersion = 2

    /// What version 1.0 writes.
    static let legacyToken = KeychainItemContract(
        service: "com.example.product",
        account: "user",
        accessGroup: "EXAMPLE42.com.example.product",
        accessible: .whenUnlocked
    )

    /// What this version writes.
    static let token = KeychainItemContract(
        service: "com.example.product.session",
        account: "token",
        accessGroup: "EXAMPLE42.com.example.product",
        accessible: .afterFirstUnlock
    )

    static func main() {
        AppLife.begin()
        #if BERTH_PROBE
            let probe = KeychainProbe(
                configuration: KeychainProbeConfiguration(
                    legacy: legacyToken,
                    target: token,
                    schemaVersion: schemaVersion,
                    seed: { store(in: $0, value: $1) },
                    migrate: { _, _ in migrate() },
                    create: { store(in: $0, value: $1) }
                ),
                isEnabled: true
            )
            if let outcome = probe.run() {
                if let code = outcome.exitCode { exit(code) }
                AppLife.waitForEnd()
            }
        #endif
        _ = migrate()
        AppLife.announce(KeychainItemStore().read(token))
        AppLife.waitForEnd()
    }

    /// Marks the migration as done without reading or writing an item.
    static func migrate() -> KeychainMigrationClaim {
        let marker = KeychainSchemaMarker()
        if marker.version == schemaVersion {
            return KeychainMigrationClaim(outcome: .alreadyMigrated, wrote: false)
        }
        marker.set(schemaVersion)
        return KeychainMigrationClaim(outcome: .migrated, wrote: true)
    }

    /// What the app does when a user has signed in.
    static func store(in contract: KeychainItemContract, value: Data) -> OSStatus {
        KeychainItemStore().add(value, as: contract)
    }
}
