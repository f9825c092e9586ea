import KeychainMigration
import SampleAppSupport
import Security

/// Version 2.0, build 25: deletes the old item before the new one is written.
///
/// It works until a write is refused; then the token is in neither place (C2).
@main struct Main {
    static func main() {
        Product(migrate: migrate).run()
    }

    static func migrate(from legacy: KeychainItemContract, to target: KeychainItemContract) -> KeychainMigrationClaim {
        let store = KeychainItemStore()
        if case .found = store.read(target) {
            return KeychainMigrationClaim(outcome: .alreadyMigrated, wrote: false)
        }
        guard case .found(let value) = store.read(legacy) else {
            return KeychainMigrationClaim(outcome: .nothingToMigrate, wrote: false)
        }
        let deleted = store.delete(legacy)
        guard deleted == errSecSuccess else { return Product.failed(.deleteLegacy, deleted) }
        let added = store.add(value, as: target)
        guard added == errSecSuccess else { return Product.failed(.addTarget, added, wrote: true) }
        KeychainSchemaMarker().set(Product.schemaVersion)
        return KeychainMigrationClaim(outcome: .migrated, wrote: true)
    }
}
