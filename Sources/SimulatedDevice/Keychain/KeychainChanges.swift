/// The second argument of an update: new attributes and data, and nothing else.
struct KeychainChanges {
    private(set) var attributes: [String: KeychainValue] = [:]
    private(set) var data: [UInt8]?

    /// Reads the dictionary; every key that is no attribute of the class is refused as an unknown attribute.
    init(_ dictionary: [String: KeychainValue], itemClass: KeychainClass) throws(KeychainFailure) {
        guard dictionary.count <= 128 else { throw KeychainFailure(.parameter) }
        for (key, value) in dictionary.sorted(by: { $0.key < $1.key }) {
            switch key {
            case "nleg", "musr": continue
            case "v_Data":
                guard case .data(let bytes) = value else { throw KeychainFailure(.parameter) }
                data = bytes
            case "accc":
                guard case .accessControl(let protection, let flags) = value,
                    KeychainClass.protections.contains(protection)
                else { throw KeychainFailure(.parameter) }
                if let other = dictionary["pdmn"], other != .string(protection) || flags != 0 {
                    throw KeychainFailure(.parameter)
                }
                if flags != 0, let sync = dictionary["sync"],
                    try KeychainAttributeKind.number.convert(sync) == .integer(1)
                {
                    throw KeychainFailure(.parameter)
                }
                if flags != 0 { throw .unsupported("access control with constraints (kSecAttrAccessControl)") }
                attributes["pdmn"] = .string(protection)
            default:
                attributes[key] = try KeychainQuery.convert(key, value, in: itemClass)
            }
        }
    }
}
