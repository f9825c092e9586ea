import KeychainMigration
import SampleAppSupport

/// Version 2.0, build 30, as it is shipped: the probe is compiled out (B3).
///
/// The package builds all other sample apps with `BERTH_PROBE`, and this one without.
@main struct Main {
    static func main() {
        AppLife.begin()
        #if BERTH_PROBE
            #error("the production build must not carry the probe")
        #endif
        _ = Product.migrateCorrectly(from: Product.legacyToken, to: Product.token)
        AppLife.announce(KeychainItemStore().read(Product.token))
        AppLife.waitForEnd()
    }
}
