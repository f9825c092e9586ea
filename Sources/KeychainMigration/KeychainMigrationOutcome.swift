/// How a migration ended, as the app itself says. The raw values stand in the status file.
public enum KeychainMigrationOutcome: String, Sendable {
    /// The item was moved into its new form and the old one is gone.
    case migrated
    /// The item was in its new form already.
    case alreadyMigrated = "already-migrated"
    /// There is neither an old nor a new item.
    case nothingToMigrate = "nothing-to-migrate"
    /// A fresh install stored a new item.
    case created
    /// The migration stopped; the old item is still there.
    case failed
}
