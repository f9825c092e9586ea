import KeychainMigration
import SampleAppSupport
import Security

/// Version 1.9, build 19: may use the old access group and the new one, and moves the token from one into the other.
///
/// Released before a build that has only the new group, it takes the item to where that build can read it (S3).
@main struct Main {
    static func main() {
        var target = Product.token
        target.accessGroup = "EXAMPLE77.com.example.product"
        Product(target: target, migrate: Product.migrateCorrectly).run()
    }
}
