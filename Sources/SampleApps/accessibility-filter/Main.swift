import Foundation
import KeychainMigration
import SampleAppSupport
import Security

/// Version 2.0, build 23: looks for the old item with the new accessibility in the query.
///
/// The keychain takes it as a filter, so the old item is "not found", and the app makes a twin: a new session beside the
/// old one. Everybody who updates is signed out (G1).
@main struct Main {
    static func main() {
        Product(migrate: migrate).run()
    }

    static func migrate(from legacy: KeychainItemContract, to target: KeychainItemContract) -> KeychainMigrationClaim {
        if case .found = KeychainItemStore().read(target) {
            return KeychainMigrationClaim(outcome: .alreadyMigrated, wrote: false)
        }
        var query = legacy.readQuery
        query[kSecAttrAccessible] = target.accessible.securityValue
        var result: CFTypeRef?
        let status = SecItemCopyMatching(query as CFDictionary, &result)
        if status == errSecSuccess { return Product.migrateCorrectly(from: legacy, to: target) }
        guard status == errSecItemNotFound else { return Product.failed(.readLegacy, status) }
        // "No user yet": a session for a guest.
        let added = KeychainItemStore().add(Data("guest-\(UUID().uuidString)".utf8), as: target)
        guard added == errSecSuccess else { return Product.failed(.addTarget, added) }
        return KeychainMigrationClaim(outcome: .created, wrote: true)
    }
}
