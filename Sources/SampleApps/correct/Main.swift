import Foundation
import KeychainMigration
import SampleAppSupport
import Security

/// Version 2.0, build 20: renames the item and migrates it in the order that cannot lose it (C2).
@main struct Main {
    static let schemaVersion = 2

    /// What version 1.0 writes.
    static let legacyToken = KeychainItemContract(
        service: "com.example.product",
        account: "user",
        accessGroup: "EXAMPLE42.com.example.product",
        accessible: .whenUnlocked
    )

    /// What this version writes: another service and account, readable by background code.
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
                    migrate: { migrate(from: $0, to: $1) },
                    create: { store(in: $0, value: $1) }
                ),
                isEnabled: true
            )
            if let outcome = probe.run() {
                if let code = outcome.exitCode { exit(code) }
                AppLife.waitForEnd()
            }
        #endif
        let claim = migrate(from: legacyToken, to: token)
        if let failure = claim.failure {
            FileHandle.standardError.write(Data("migration to \(schemaVersion): \(failure)\n".utf8))
        }
        AppLife.announce(KeychainItemStore().read(token))
        AppLife.waitForEnd()
    }

    /// Runs at every start.
    static func migrate(from legacy: KeychainItemContract, to target: KeychainItemContract) -> KeychainMigrationClaim {
        KeychainMigrator(
            legacy: legacy,
            target: target,
            schemaVersion: schemaVersion,
            isWellFormed: isToken
        ).migrate()
    }

    /// A token is printable ASCII without blanks.
    static func isToken(_ value: Data) -> Bool {
        !value.isEmpty && value.allSatisfy { (0x21...0x7e).contains($0) }
    }

    /// What the app does when a user has signed in.
    static func store(in contract: KeychainItemContract, value: Data) -> OSStatus {
        KeychainItemStore().add(value, as: contract)
    }
}
