import KeychainMigration
import SampleAppSupport

/// Version 2.0, build 26: believes its completion marker.
///
/// Preferences come back from a backup or survive a reset without the item. Then the data is there in its old form and
/// nobody looks for it (C4).
@main struct Main {
    static func main() {
        Product(migrate: migrate).run()
    }

    static func migrate(from legacy: KeychainItemContract, to target: KeychainItemContract) -> KeychainMigrationClaim {
        if KeychainSchemaMarker().version == Product.schemaVersion {
            return KeychainMigrationClaim(outcome: .alreadyMigrated, wrote: false)
        }
        return Product.migrateCorrectly(from: legacy, to: target)
    }
}
