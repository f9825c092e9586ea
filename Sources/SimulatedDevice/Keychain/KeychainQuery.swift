/// A parsed dictionary of one keychain call.
struct KeychainQuery {
    /// The four calls.
    enum Operation: String, Sendable {
        case add
        case copy
        case update
        case delete
    }

    /// How many items a copy gives.
    enum Limit: Equatable {
        case one
        case atMost(Int)
        case all
    }

    /// What is given back of an item.
    struct Returned: OptionSet {
        let rawValue: Int

        static let data = Returned(rawValue: 1)
        static let attributes = Returned(rawValue: 2)
        static let reference = Returned(rawValue: 4)
        static let persistentReference = Returned(rawValue: 8)
    }

    private(set) var itemClass: KeychainClass?
    /// Converted attributes: what to match, or what to store.
    private(set) var attributes: [String: KeychainValue] = [:]
    /// Nil: items of both kinds.
    private(set) var synchronizable: Bool? = false
    private(set) var data: [UInt8]?
    /// The sixteen bytes of a persistent reference after its class.
    private(set) var persistentReference: [UInt8]?
    private(set) var returned: Returned = []
    private(set) var limit: Limit?
    /// Every match key that was given, known or not.
    private(set) var matchKeys: Set<String> = []
    private var accessControl: (protection: String, flags: Int64)?

    /// Most keys that a dictionary may have.
    private static let mostKeys = 128

    /// Reads a dictionary. Keys are read in the order of their names, so that of several mistakes always the same one
    /// is reported.
    init(_ dictionary: [String: KeychainValue], operation: Operation) throws(KeychainFailure) {
        guard dictionary.count <= Self.mostKeys else { throw KeychainFailure(.parameter) }
        try setClass(dictionary["class"])
        var reference: KeychainValue?
        for (key, value) in dictionary.sorted(by: { $0.key < $1.key }) where key != "class" {
            if key.utf16.count == 4 {
                try setAttribute(key, value, operation)
                continue
            }
            switch key.utf16.count > 1 ? key.first : nil {
            case "m": try setMatch(key, value)
            case "r": try setReturned(key, value)
            case "u": try Self.checkUse(key)
            case "v" where key == "v_PersistentRef": reference = value
            case "v": try setValue(key, value)
            case "f": continue
            default: throw KeychainFailure(.parameter)
            }
        }
        if let reference { try setPersistentReference(reference, mixed: dictionary) }
        try resolveAccessControl()
        guard itemClass != nil else { throw KeychainFailure(.parameter) }
    }

    private mutating func setClass(_ value: KeychainValue?) throws(KeychainFailure) {
        guard let value else { return }
        guard case .string(let name) = value else { throw KeychainFailure(.noSuchClass) }
        itemClass = try Self.itemClass(named: name)
    }

    private static func itemClass(named name: String) throws(KeychainFailure) -> KeychainClass {
        if name == KeychainClass.genericPassword.name { return .genericPassword }
        if KeychainClass.unsupported.contains(name) { throw .unsupported("items of class \(name)") }
        throw KeychainFailure(.noSuchClass)
    }

    private mutating func setAttribute(
        _ key: String,
        _ value: KeychainValue,
        _ operation: Operation
    ) throws(KeychainFailure) {
        switch key {
        case "nleg": return
        case "accc":
            guard case .accessControl(let protection, let flags) = value else { throw KeychainFailure(.parameter) }
            accessControl = (protection, flags)
        case "sync" where value == .string("syna"):
            synchronizable = operation == .add ? false : nil
        default:
            // Without a class a persistent reference is expected, and it admits no attributes anyway.
            guard let itemClass else { throw KeychainFailure(.parameter) }
            let converted = try Self.convert(key, value, in: itemClass)
            if key == "sync" {
                synchronizable = converted != .integer(0)
            } else {
                attributes[key] = converted
            }
        }
    }

    /// An attribute's value as it is stored.
    static func convert(
        _ key: String,
        _ value: KeychainValue,
        in itemClass: KeychainClass
    ) throws(KeychainFailure) -> KeychainValue {
        guard let kind = itemClass.attributes[key] else {
            if KeychainClass.unsupportedAttributes.contains(key) { throw .unsupported("the attribute \(key)") }
            throw KeychainFailure(.noSuchAttribute)
        }
        let converted = try kind.convert(value)
        if key == "pdmn" {
            guard case .string(let protection) = converted, KeychainClass.protections.contains(protection) else {
                throw KeychainFailure(.parameter)
            }
        }
        return converted
    }

    private mutating func setMatch(_ key: String, _ value: KeychainValue) throws(KeychainFailure) {
        matchKeys.insert(key)
        guard key == "m_Limit" else { return }
        switch value {
        case .string("m_LimitOne"), .integer(1), .real(1): limit = .one
        case .string("m_LimitAll"): limit = .all
        case .integer(let number): limit = number < 0 ? .all : .atMost(Int(number))
        case .real(let number):
            guard let whole = Int(exactly: number.rounded(.towardZero)) else { throw KeychainFailure(.parameter) }
            limit = whole < 0 ? .all : .atMost(whole)
        default: throw KeychainFailure(.parameter)
        }
    }

    private mutating func setReturned(_ key: String, _ value: KeychainValue) throws(KeychainFailure) {
        let names: [String: Returned] = [
            "r_Data": .data, "r_Attributes": .attributes, "r_Ref": .reference, "r_PersistentRef": .persistentReference,
        ]
        guard let one = names[key], case .boolean(let wanted) = value else { throw KeychainFailure(.parameter) }
        if wanted { returned.insert(one) }
    }

    private static func checkUse(_ key: String) throws(KeychainFailure) {
        switch key {
        case "u_OpPrompt", "u_CallerName", "u_NoAuthUI", "u_AuthUI", "u_TokenRawItems", "u_AuthCtx", "u_CredRef",
            "u_Tomb":
            return
        case "u_SystemKeychain", "u_SystemKeychainAlways", "u_UserIndependentKeychain":
            throw KeychainFailure(.missingEntitlement)
        default: throw KeychainFailure(.parameter)
        }
    }

    private mutating func setValue(_ key: String, _ value: KeychainValue) throws(KeychainFailure) {
        guard key == "v_Data", case .data(let bytes) = value else { throw KeychainFailure(.parameter) }
        data = bytes
    }

    private mutating func setPersistentReference(
        _ value: KeychainValue,
        mixed dictionary: [String: KeychainValue]
    ) throws(KeychainFailure) {
        guard case .data(let bytes) = value, bytes.count == 20 || bytes.count == 12,
            let name = String(validating: bytes.prefix(4), as: UTF8.self)
        else { throw KeychainFailure(.parameter) }
        let known = name == KeychainClass.genericPassword.name || KeychainClass.unsupported.contains(name)
        guard known else { throw KeychainFailure(.parameter) }
        if let itemClass, itemClass.name != name { throw KeychainFailure(.noSuchClass) }
        guard !dictionary.keys.contains(where: { $0.utf16.count == 4 && $0 != "nleg" }) else {
            throw KeychainFailure(.parameter)
        }
        itemClass = try Self.itemClass(named: name)
        persistentReference = Array(bytes.dropFirst(4))
    }

    /// An access control object sets the protection class; both may be given if they agree.
    private mutating func resolveAccessControl() throws(KeychainFailure) {
        guard let accessControl else { return }
        guard KeychainClass.protections.contains(accessControl.protection) else { throw KeychainFailure(.parameter) }
        if let protection = attributes["pdmn"] {
            guard protection == .string(accessControl.protection), accessControl.flags == 0 else {
                throw KeychainFailure(.parameter)
            }
        }
        if accessControl.flags != 0 {
            if synchronizable == true { throw KeychainFailure(.parameter) }
            throw .unsupported("access control with constraints (kSecAttrAccessControl)")
        }
        accessProtection = accessControl.protection
    }

    /// The protection class that an access control object brought. It is no filter, but what an addition stores.
    private(set) var accessProtection: String?
}
