import KeychainMigration
import SampleAppSupport

/// Version 2.0, build 27: the code is right, and it is signed for another team.
///
/// Its queries name no access group, so the keychain searches those of the new signature and says "not found": the old
/// item lies in a group that this build cannot see (M5).
@main struct Main {
    static func main() {
        var legacy = Product.legacyToken
        var target = Product.token
        legacy.accessGroup = nil
        target.accessGroup = nil
        Product(legacy: legacy, target: target, migrate: Product.migrateCorrectly).run()
    }
}
