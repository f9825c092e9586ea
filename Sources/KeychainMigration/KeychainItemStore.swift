import Foundation
import Security

/// Reads, adds and deletes single items by their contract.
public struct KeychainItemStore {
    private let keychain: KeychainAccess

    /// A store in the keychain of the system.
    public init() {
        self.init(keychain: .system)
    }

    init(keychain: KeychainAccess) {
        self.keychain = keychain
    }

    /// Reads the value of the item that `contract` names, whatever its accessibility.
    public func read(_ contract: KeychainItemContract) -> KeychainReadResult {
        switch readItem(contract) {
        case .found(let item): .found(item.data)
        case .missing: .missing
        case .failed(let status): .failed(status)
        }
    }

    /// Adds a new item with `data` as its value; `errSecDuplicateItem` when there is one already.
    public func add(_ data: Data, as contract: KeychainItemContract) -> OSStatus {
        keychain.add(contract.addQuery(data))
    }

    /// Deletes the one item that `contract` names by service, account and, if the contract has one, access group (E1).
    public func delete(_ contract: KeychainItemContract) -> OSStatus {
        keychain.delete(contract.identityQuery)
    }

    /// Gives the item that `contract` names the contract's accessibility, in place.
    func updateAccessibility(_ contract: KeychainItemContract) -> OSStatus {
        keychain.update(contract.identityQuery, [kSecAttrAccessible: contract.accessible.securityValue])
    }

    /// Reads the item that `contract` names. An item without a value is `failed(errSecDecode)`.
    func readItem(_ contract: KeychainItemContract) -> StoredItemRead {
        let (status, result) = keychain.copyMatching(contract.readQuery)
        switch status {
        case errSecSuccess:
            guard let dictionary = result as? [String: Any],
                let item = StoredItem(dictionary, readBy: contract)
            else {
                return .failed(errSecDecode)
            }
            return .found(item)
        case errSecItemNotFound:
            return .missing
        default:
            return .failed(status)
        }
    }

    /// The attributes of every generic password that this build can see, in any of its groups, synchronised or not.
    /// No value is asked for. The list is nil when `status` is a failure.
    func listAttributes() -> (status: OSStatus, items: [StoredAttributes]?) {
        var query: [CFString: Any] = [
            kSecClass: kSecClassGenericPassword,
            kSecAttrSynchronizable: kSecAttrSynchronizableAny,
            kSecReturnAttributes: true,
            kSecMatchLimit: kSecMatchLimitAll,
        ]
        #if os(macOS)
            query[kSecUseDataProtectionKeychain] = true
        #endif
        let (status, result) = keychain.copyMatching(query)
        switch status {
        case errSecSuccess:
            guard let list = result as? [[String: Any]] else { return (errSecDecode, nil) }
            return (status, list.map(StoredAttributes.init))
        case errSecItemNotFound:
            return (errSecSuccess, [])
        default:
            return (status, nil)
        }
    }
}
