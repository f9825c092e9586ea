import Foundation
import Security

/// The four keychain calls, so that tests can put failures between a migration and its keychain.
struct KeychainAccess {
    var add: (_ attributes: [CFString: Any]) -> OSStatus
    var copyMatching: (_ query: [CFString: Any]) -> (status: OSStatus, result: CFTypeRef?)
    var update: (_ query: [CFString: Any], _ attributes: [CFString: Any]) -> OSStatus
    var delete: (_ query: [CFString: Any]) -> OSStatus

    /// The keychain of the system.
    static var system: KeychainAccess {
        KeychainAccess(
            add: { SecItemAdd($0 as CFDictionary, nil) },
            copyMatching: { query in
                var result: CFTypeRef?
                let status = SecItemCopyMatching(query as CFDictionary, &result)
                return (status, result)
            },
            update: { SecItemUpdate($0 as CFDictionary, $1 as CFDictionary) },
            delete: { SecItemDelete($0 as CFDictionary) }
        )
    }
}
