import KeychainMigration
import SampleAppSupport
import Security

/// Version 2.0, build 29: writes the token back at every start, to be on the safe side.
///
/// A second migration is not without effect (G2): each start races with other code that writes the item.
@main struct Main {
    static func main() {
        Product(migrate: migrate).run()
    }

    static func migrate(from legacy: KeychainItemContract, to target: KeychainItemContract) -> KeychainMigrationClaim {
        let claim = Product.migrateCorrectly(from: legacy, to: target)
        guard claim.outcome == .alreadyMigrated, case .found(let value) = KeychainItemStore().read(target) else {
            return claim
        }
        let change: [CFString: Any] = [kSecValueData: value]
        let updated = SecItemUpdate(target.identityQuery as CFDictionary, change as CFDictionary)
        return updated == errSecSuccess ? claim : Product.failed(.addTarget, updated)
    }
}
