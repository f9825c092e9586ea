import KeychainMigration
import SampleAppSupport
import Security

/// Version 2.0, build 28: after a correct migration it clears up what is left in the old protection class.
///
/// The query names no service and no account, so other items of the app go with the old one (E1).
@main struct Main {
    static func main() {
        Product(migrate: migrate).run()
    }

    static func migrate(from legacy: KeychainItemContract, to target: KeychainItemContract) -> KeychainMigrationClaim {
        let claim = Product.migrateCorrectly(from: legacy, to: target)
        guard claim.outcome == .migrated else { return claim }
        let query: [CFString: Any] = [
            kSecClass: kSecClassGenericPassword,
            kSecAttrAccessGroup: Product.accessGroup,
            kSecAttrAccessible: legacy.accessible.securityValue,
        ]
        let deleted = SecItemDelete(query as CFDictionary)
        guard deleted == errSecSuccess || deleted == errSecItemNotFound else {
            return Product.failed(.deleteLegacy, deleted, wrote: true)
        }
        return claim
    }
}
