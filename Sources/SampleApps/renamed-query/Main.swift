import Foundation
import KeychainMigration
import SampleAppSupport
import Security

/// Version 2.0, build 21: renames the item by changing the query and nothing else.
///
/// A fresh install works, and everybody who updates is signed out. This is the fault that the farm is there to find.
@main struct Main {
    static let schemaVersion = 2

    /// What version 1.0 writes. Only the probe looks there; the app does not.
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
                    migrate: { _, target in start(with: target) },
                    create: { store(in: $0, value: $1) }
                ),
                isEnabled: true
            )
            if let outcome = probe.run() {
                if let code = outcome.exitCode { exit(code) }
                AppLife.waitForEnd()
            }
        #endif
        AppLife.announce(KeychainItemStore().read(token))
        AppLife.waitForEnd()
    }

    /// All that this build does at its start: it asks for the item by its new name.
    static func start(with token: KeychainItemContract) -> KeychainMigrationClaim {
        switch KeychainItemStore().read(token) {
        case .found:
            return KeychainMigrationClaim(outcome: .alreadyMigrated, wrote: false)
        case .missing:
            return KeychainMigrationClaim(outcome: .nothingToMigrate, wrote: false)
        case .failed(let status):
            let failure = KeychainMigrationFailure(step: .readTarget, cause: .status(status))
            return KeychainMigrationClaim(outcome: .failed, wrote: false, failure: failure)
        }
    }

    /// What the app does when a user has signed in.
    static func store(in contract: KeychainItemContract, value: Data) -> OSStatus {
        KeychainItemStore().add(value, as: contract)
    }
}
