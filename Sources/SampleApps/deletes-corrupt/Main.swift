import KeychainMigration
import SampleAppSupport

/// Version 2.0, build 24: throws a token away that it cannot read.
///
/// The error is clear, and the only evidence of what went wrong is gone (G3).
@main struct Main {
    static func main() {
        Product(migrate: migrate).run()
    }

    static func migrate(from legacy: KeychainItemContract, to target: KeychainItemContract) -> KeychainMigrationClaim {
        guard case .found(let value) = KeychainItemStore().read(legacy), !Product.isToken(value) else {
            return Product.migrateCorrectly(from: legacy, to: target)
        }
        // "It is of no use to anybody: the user signs in again."
        _ = KeychainItemStore().delete(legacy)
        let failure = KeychainMigrationFailure(step: .readLegacy, cause: .malformed)
        return KeychainMigrationClaim(outcome: .failed, wrote: true, failure: failure)
    }
}
