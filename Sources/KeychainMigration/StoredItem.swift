import Foundation
import Security

/// An item as the keychain gave it back.
struct StoredItem {
    /// The item's value.
    var data: Data
    /// The five fields as stored, which may differ from those that were asked for.
    var contract: KeychainItemContract
    var created: Date?
    var modified: Date?
    var persistentReference: Data?

    /// Whether both are one item: the keychain's own notion, in which accessibility has no part.
    func isSameItem(as other: StoredItem) -> Bool {
        contract.service == other.contract.service && contract.account == other.contract.account
            && contract.accessGroup == other.contract.accessGroup
    }
}

extension StoredItem {
    /// The item in a dictionary that a read by `query` returned; nil when it has no value.
    init?(_ dictionary: [String: Any], readBy query: KeychainItemContract) {
        guard let data = dictionary[kSecValueData as String] as? Data else { return nil }
        self.data = data
        let attributes = StoredAttributes(dictionary)
        contract = query
        contract.service = attributes.text(kSecAttrService) ?? query.service
        contract.account = attributes.text(kSecAttrAccount) ?? query.account
        contract.accessGroup = attributes.text(kSecAttrAccessGroup) ?? query.accessGroup
        if let accessible = attributes.text(kSecAttrAccessible) {
            contract.accessible = KeychainAccessibility(rawValue: accessible)
        }
        created = attributes.date(kSecAttrCreationDate)
        modified = attributes.date(kSecAttrModificationDate)
        persistentReference = dictionary[kSecValuePersistentRef as String] as? Data
    }
}

/// The outcome of a read inside the library: D1 with the whole item.
enum StoredItemRead {
    case found(StoredItem)
    case missing
    case failed(OSStatus)

    /// The number that the keychain answered.
    var status: OSStatus {
        switch self {
        case .found: errSecSuccess
        case .missing: errSecItemNotFound
        case .failed(let status): status
        }
    }
}
