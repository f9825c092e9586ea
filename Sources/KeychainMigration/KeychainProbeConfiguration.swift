import Foundation
import Security

/// What the probe has to know about a build, and the build's own code that it calls.
///
/// The closures get contracts whose service and account carry the attempt's suffix already, and use them as they are.
public struct KeychainProbeConfiguration {
    /// The form of the item that the old build writes.
    public var legacy: KeychainItemContract
    /// The form of the item that this build writes; nil in a legacy build.
    public var target: KeychainItemContract?
    /// The version of this build's migration (C3), or of the form that a legacy build writes.
    public var schemaVersion: Int
    /// Writes the item as this build writes it, and returns the keychain's answer.
    public var seed: (_ contract: KeychainItemContract, _ value: Data) -> OSStatus
    /// The app's own migration, and what it claims. A legacy build has none.
    public var migrate: ((_ legacy: KeychainItemContract, _ target: KeychainItemContract) -> KeychainMigrationClaim)?
    /// Stores a new item, as the app does when a user signs in on a fresh install.
    public var create: (_ contract: KeychainItemContract, _ value: Data) -> OSStatus
    /// Deletes exactly one item by service and account (E1).
    public var delete: (_ contract: KeychainItemContract) -> OSStatus
    /// Where the app keeps its schema version.
    public var preferences: UserDefaults

    /// A configuration; the closures that are left out use the contract as it is.
    public init(
        legacy: KeychainItemContract,
        target: KeychainItemContract?,
        schemaVersion: Int,
        seed: @escaping (KeychainItemContract, Data) -> OSStatus = { KeychainItemStore().add($1, as: $0) },
        migrate: ((KeychainItemContract, KeychainItemContract) -> KeychainMigrationClaim)?,
        create: @escaping (KeychainItemContract, Data) -> OSStatus = { KeychainItemStore().add($1, as: $0) },
        delete: @escaping (KeychainItemContract) -> OSStatus = { KeychainItemStore().delete($0) },
        preferences: UserDefaults = .standard
    ) {
        self.legacy = legacy
        self.target = target
        self.schemaVersion = schemaVersion
        self.seed = seed
        self.migrate = migrate
        self.create = create
        self.delete = delete
        self.preferences = preferences
    }
}
