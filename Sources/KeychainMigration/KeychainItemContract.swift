import Foundation
import Security

/// The five fields that decide whether another build finds a keychain item (C1).
///
/// A build keeps one contract per item and form. When a migration fails, the first question is which of the five
/// fields differs between the builds.
public struct KeychainItemContract: Equatable, Sendable {
    /// The class of the item.
    public var itemClass: KeychainItemClass
    /// The value of `kSecAttrService`.
    public var service: String
    /// The value of `kSecAttrAccount`.
    public var account: String
    /// The access group with its prefix. Without one the keychain adds to the build's first group and searches all of
    /// the build's groups, so a changed signature can hide the item without any error.
    public var accessGroup: String?
    /// When the item can be read. It is written with the item and never part of a query.
    public var accessible: KeychainAccessibility

    /// A contract of the given fields.
    public init(
        itemClass: KeychainItemClass = .genericPassword,
        service: String,
        account: String,
        accessGroup: String? = nil,
        accessible: KeychainAccessibility
    ) {
        self.itemClass = itemClass
        self.service = service
        self.account = account
        self.accessGroup = accessGroup
        self.accessible = accessible
    }

    /// The query that names exactly this item and nothing else: for deletion and for updates.
    ///
    /// It carries no accessibility: the keychain would treat it as a filter, and an item whose accessibility changed
    /// would be "not found" on read and "duplicate" on add.
    public var identityQuery: [CFString: Any] {
        var query: [CFString: Any] = [
            kSecClass: itemClass.securityValue,
            kSecAttrService: service,
            kSecAttrAccount: account,
        ]
        if let accessGroup {
            query[kSecAttrAccessGroup] = accessGroup
        }
        #if os(macOS)
            // Without this a Mac answers from the file keychain, which follows other rules.
            query[kSecUseDataProtectionKeychain] = true
        #endif
        return query
    }

    /// The query that reads this item's data, attributes and persistent reference as one dictionary.
    public var readQuery: [CFString: Any] {
        var query = identityQuery
        query[kSecReturnData] = true
        query[kSecReturnAttributes] = true
        query[kSecReturnPersistentRef] = true
        query[kSecMatchLimit] = kSecMatchLimitOne
        return query
    }

    /// The dictionary that adds this item with `data` as its value.
    public func addQuery(_ data: Data) -> [CFString: Any] {
        var query = identityQuery
        query[kSecAttrAccessible] = accessible.securityValue
        query[kSecValueData] = data
        return query
    }

    /// The same contract with `suffix` at the end of service and account (X2).
    func appending(suffix: String) -> KeychainItemContract {
        var contract = self
        contract.service += suffix
        contract.account += suffix
        return contract
    }
}
