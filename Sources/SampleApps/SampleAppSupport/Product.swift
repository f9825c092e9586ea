import Foundation
import KeychainMigration
import Security

/// What the sample builds of version 2.0 have in common: the two forms of their item, and the probe.
package struct Product {
    package static let schemaVersion = 2
    package static let accessGroup = "EXAMPLE42.com.example.product"

    /// What version 1.0 writes.
    package static let legacyToken = KeychainItemContract(
        service: "com.example.product",
        account: "user",
        accessGroup: accessGroup,
        accessible: .whenUnlocked
    )

    /// What version 2.0 writes.
    package static let token = KeychainItemContract(
        service: "com.example.product.session",
        account: "token",
        accessGroup: accessGroup,
        accessible: .afterFirstUnlock
    )

    private let legacy: KeychainItemContract
    private let target: KeychainItemContract
    private let migrate: (_ legacy: KeychainItemContract, _ target: KeychainItemContract) -> KeychainMigrationClaim

    /// A build that migrates in its own way.
    package init(
        legacy: KeychainItemContract = legacyToken,
        target: KeychainItemContract = token,
        migrate: @escaping (KeychainItemContract, KeychainItemContract) -> KeychainMigrationClaim
    ) {
        self.legacy = legacy
        self.target = target
        self.migrate = migrate
    }

    /// Lives as an app does: the probe first, then the migration.
    package func run() -> Never {
        AppLife.begin()
        #if BERTH_PROBE
            let probe = KeychainProbe(
                configuration: KeychainProbeConfiguration(
                    legacy: legacy,
                    target: target,
                    schemaVersion: Self.schemaVersion,
                    migrate: migrate
                ),
                isEnabled: true
            )
            if let outcome = probe.run() {
                if let code = outcome.exitCode { exit(code) }
                AppLife.waitForEnd()
            }
        #endif
        _ = migrate(legacy, target)
        AppLife.announce(KeychainItemStore().read(target))
        AppLife.waitForEnd()
    }

    /// The migration as it should be (C2).
    package static func migrateCorrectly(
        from legacy: KeychainItemContract,
        to target: KeychainItemContract
    ) -> KeychainMigrationClaim {
        KeychainMigrator(legacy: legacy, target: target, schemaVersion: schemaVersion, isWellFormed: isToken).migrate()
    }

    /// A token is printable ASCII without blanks.
    package static func isToken(_ value: Data) -> Bool {
        !value.isEmpty && value.allSatisfy { (0x21...0x7e).contains($0) }
    }

    /// A claim that a step failed with a status.
    package static func failed(_ step: KeychainMigrationStep, _ status: OSStatus, wrote: Bool = false)
        -> KeychainMigrationClaim
    {
        let failure = KeychainMigrationFailure(step: step, cause: .status(status))
        return KeychainMigrationClaim(outcome: .failed, wrote: wrote, failure: failure)
    }
}
