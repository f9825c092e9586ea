import Foundation

// The four calls. They hold no semantics: what an attribute means, who may see an item and what the answer is are
// matters of the device that the app runs on.

/// Adds one item.
///
/// - Parameters:
///   - attributes: class, attributes, data, and what to return.
///   - result: receives what was asked for; left alone when nothing was.
/// - Returns: 0 or an `errSec…` number.
public func SecItemAdd(_ attributes: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
    let answer = KeychainConnection.call("add", query: attributes)
    if answer.status == errSecSuccess, let value = answer.result { result?.pointee = value }
    return answer.status
}

/// Finds items.
///
/// - Parameters:
///   - query: class, attributes to match, limit, and what to return.
///   - result: receives one value or an array of them; left alone when nothing was asked for or found.
/// - Returns: 0 or an `errSec…` number.
public func SecItemCopyMatching(_ query: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
    let answer = KeychainConnection.call("copy", query: query)
    if answer.status == errSecSuccess, let value = answer.result { result?.pointee = value }
    return answer.status
}

/// Changes every item that a query matches.
///
/// - Parameters:
///   - query: class and attributes to match.
///   - attributesToUpdate: new attributes and data.
/// - Returns: 0 or an `errSec…` number.
public func SecItemUpdate(_ query: CFDictionary, _ attributesToUpdate: CFDictionary) -> OSStatus {
    KeychainConnection.call("update", query: query, changes: attributesToUpdate).status
}

/// Deletes every item that a query matches.
///
/// - Parameter query: class and attributes to match.
/// - Returns: 0 or an `errSec…` number.
public func SecItemDelete(_ query: CFDictionary) -> OSStatus {
    KeychainConnection.call("delete", query: query).status
}
