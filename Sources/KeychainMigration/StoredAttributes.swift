import Foundation
import Security

/// Typed access to the attributes of an item that the keychain returned.
struct StoredAttributes {
    private let dictionary: [String: Any]

    init(_ dictionary: [String: Any]) {
        self.dictionary = dictionary
    }

    /// The bytes of a text attribute: the keychain gives back a string or data, as it was stored.
    func bytes(_ key: CFString) -> [UInt8]? {
        switch dictionary[key as String] {
        case let text as String: Array(text.utf8)
        case let data as Data: Array(data)
        default: nil
        }
    }

    /// A text attribute.
    func text(_ key: CFString) -> String? {
        bytes(key).map { String(decoding: $0, as: UTF8.self) }
    }

    func date(_ key: CFString) -> Date? {
        dictionary[key as String] as? Date
    }

    func flag(_ key: CFString) -> Bool {
        (dictionary[key as String] as? NSNumber)?.boolValue ?? false
    }
}
