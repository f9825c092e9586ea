import Foundation

/// The encoding of keychain calls and answers: a binary property list, in which what a property list cannot hold is a
/// dictionary whose key `$` names it.
enum KeychainMessage {
    /// Version of this encoding; a device refuses one that it does not know.
    static let version = 1
    /// Longest message in bytes, in both directions.
    static let longest = 64 << 20

    static func encode(operation: String, query: NSDictionary, changes: NSDictionary?) throws -> Data {
        var message: [String: Any] = [
            "version": version, "operation": operation, "query": encode(dictionary: query),
        ]
        if let changes { message["changes"] = encode(dictionary: changes) }
        return try PropertyListSerialization.data(fromPropertyList: message, format: .binary, options: 0)
    }

    static func decode(_ data: Data) throws -> KeychainAnswer? {
        let list = try PropertyListSerialization.propertyList(from: data, options: [], format: nil)
        guard let message = list as? [String: Any], let status = message["status"] as? Int else { return nil }
        return KeychainAnswer(
            status: OSStatus(truncatingIfNeeded: status),
            result: message["result"].map(decode(value:)),
            notice: message["notice"] as? String
        )
    }

    private static func encode(dictionary: NSDictionary) -> [String: Any] {
        var encoded: [String: Any] = [:]
        for (key, value) in dictionary {
            // A key of another type cannot be mistaken for an attribute: it gets a name that no attribute has.
            let name = (key as? String) ?? ((key as? NSString).map { String(describing: $0) } ?? "$unnamed")
            encoded[name] = encode(value: value)
        }
        return encoded
    }

    private static func encode(value: Any) -> Any {
        switch value as AnyObject {
        case let number as NSNumber:
            // An NSNumber made from a Bool says `c`; all other numbers say otherwise, also those that equal 1.
            if String(cString: number.objCType) == "c" { return number.boolValue }
            return number
        case let string as NSString: return string
        case let data as NSData: return data
        case let date as NSDate: return date
        case let array as NSArray: return array.map(encode(value:))
        case let dictionary as NSDictionary: return ["$": "dictionary", "value": encode(dictionary: dictionary)]
        case is NSNull: return ["$": "null"]
        case let uuid as NSUUID: return ["$": "uuid", "value": uuid.uuidString]
        case let control as SecAccessControl:
            return ["$": "access-control", "protection": control.protection, "flags": Int(control.flags)]
        default: return ["$": "other", "type": String(describing: type(of: value))]
        }
    }

    private static func decode(value: Any) -> AnyObject {
        switch value {
        case let array as [Any]:
            return array.map(decode(value:)) as NSArray
        case let dictionary as [String: Any]:
            if dictionary["$"] as? String == "access-control",
                let protection = dictionary["protection"] as? String, let flags = dictionary["flags"] as? Int
            {
                return SecAccessControl(protection: protection, flags: UInt(flags))
            }
            return dictionary.mapValues(decode(value:)) as NSDictionary
        default:
            return value as AnyObject
        }
    }
}

/// What the device answered.
struct KeychainAnswer {
    let status: OSStatus
    let result: AnyObject?
    /// What the developer of the app should know about the call, such as what it asked for that does not exist here.
    let notice: String?
}
