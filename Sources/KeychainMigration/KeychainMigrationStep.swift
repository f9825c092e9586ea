import Security

/// One keychain operation of a migration. The raw values stand in the status file.
public enum KeychainMigrationStep: String, Sendable {
    /// Looking for the item in its new form.
    case readTarget = "read-target"
    /// Reading the item in its old form.
    case readLegacy = "read-legacy"
    /// Adding the item in its new form.
    case addTarget = "add-target"
    /// Reading the new item to compare its content with the old one's.
    case readBack = "read-back"
    /// Deleting the old item.
    case deleteLegacy = "delete-legacy"
    /// Changing the accessibility of an item that keeps its name.
    case updateAccessible = "update-accessible"
}

/// A step that was carried out, with the keychain's answer.
public struct KeychainStepRecord: Equatable, Sendable {
    /// The operation.
    public var step: KeychainMigrationStep
    /// The keychain's answer; 0 is success.
    public var status: OSStatus

    /// A record of `step` and the status that it returned.
    public init(step: KeychainMigrationStep, status: OSStatus) {
        self.step = step
        self.status = status
    }
}
