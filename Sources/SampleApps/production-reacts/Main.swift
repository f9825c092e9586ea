import SampleAppSupport

/// Version 2.0, build 31: meant for the shop, and built with the probe left in it (B3).
///
/// Whoever can launch it with arguments writes and deletes items of its users.
@main struct Main {
    static func main() {
        Product(migrate: Product.migrateCorrectly).run()
    }
}
