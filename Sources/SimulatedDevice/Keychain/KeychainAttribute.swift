import BerthSystem

/// What an attribute's value is converted to, and how two values are compared.
enum KeychainAttributeKind: Sendable {
    /// Text, bytes or a number, kept as given and compared by bytes.
    case blob
    /// Bytes.
    case data
    /// A number; text that is no decimal number stays text.
    case number
    case string
    case date
    /// Whether the item is synchronised.
    case synchronizable
    /// The digest of the primary key.
    case digest
    /// The owner's identifier on devices with several users: always empty here.
    case user
}

extension KeychainAttributeKind {
    /// The value as it is stored.
    ///
    /// - Throws: `KeychainFailure` with `.parameter` for a value of a type that the attribute cannot have.
    func convert(_ value: KeychainValue) throws(KeychainFailure) -> KeychainValue {
        switch (self, value) {
        case (.blob, .string), (.blob, .data), (.blob, .integer): return value
        case (.blob, .real(let real)): return .integer(try whole(real))
        case (.data, .data), (.digest, .data), (.user, .data): return value
        case (.data, .string(let text)): return .data(Array(text.utf8))
        case (.data, .integer(let integer)): return .data(Self.bytes(of: integer))
        case (.number, .integer), (.synchronizable, .integer): return value
        case (.number, .real(let real)), (.synchronizable, .real(let real)): return .integer(try whole(real))
        case (.number, .boolean(let flag)), (.synchronizable, .boolean(let flag)): return .integer(flag ? 1 : 0)
        case (.number, .string(let text)): return Self.decimal(text).map(KeychainValue.integer) ?? value
        case (.synchronizable, .string(let text)):
            guard let number = Self.decimal(text) else { throw KeychainFailure(.parameter) }
            return .integer(number)
        case (.string, .string): return value
        case (.string, .data(let bytes)):
            guard let text = String(validating: bytes, as: UTF8.self) else { throw KeychainFailure(.parameter) }
            return .string(text)
        case (.string, .uuid(let text)): return .string(text)
        case (.date, .date): return value
        default: throw KeychainFailure(.parameter)
        }
    }

    /// What two values are compared by; equal keys are equal values.
    func comparisonKey(_ value: KeychainValue) -> KeychainValue {
        guard case .blob = self else { return value }
        switch value {
        case .string(let text): return .data(Array(text.utf8))
        case .integer(let integer): return .data(Self.bytes(of: integer))
        default: return value
        }
    }

    /// A decimal number that prints back as the same text.
    private static func decimal(_ text: String) -> Int64? {
        guard let number = Int64(text), String(number) == text else { return nil }
        return number
    }

    private static func bytes(of integer: Int64) -> [UInt8] {
        withUnsafeBytes(of: Int32(truncatingIfNeeded: integer).littleEndian) { Array($0) }
    }

    private func whole(_ real: Double) throws(KeychainFailure) -> Int64 {
        guard let integer = Int64(exactly: real.rounded(.towardZero)) else { throw KeychainFailure(.parameter) }
        return integer
    }
}

/// The attributes of a class of items.
struct KeychainClass: Sendable {
    /// The wire value of `class`, also the table's name.
    let name: String
    /// Every attribute that apps may name, with its kind.
    let attributes: [String: KeychainAttributeKind]
    /// The attributes that make two items the same, in the order in which they enter the digest.
    let primaryKey: [String]
    /// Values that an item gets at its addition where the app gave none.
    let defaults: [String: KeychainValue]

    static let genericPassword = KeychainClass(
        name: "genp",
        attributes: [
            "acct": .blob, "svce": .blob, "gena": .blob, "labl": .blob, "desc": .blob, "icmt": .blob, "alis": .blob,
            "crtr": .number, "type": .number, "scrp": .number, "invi": .number, "nega": .number, "cusi": .number,
            "prot": .blob, "cdat": .date, "mdat": .date, "agrp": .string, "pdmn": .string, "sync": .synchronizable,
            "tomb": .number, "sha1": .digest, "musr": .user,
        ],
        primaryKey: ["acct", "svce", "agrp", "sync"],
        defaults: [
            "acct": .string(""), "svce": .string(""), "sync": .integer(0), "tomb": .integer(0), "musr": .data([]),
        ]
    )

    /// Classes of Apple's keychain that this one knows only by name.
    static let unsupported: Set<String> = ["inet", "cert", "keys", "idnt"]
    /// Attributes without public use, which no item here has.
    static let unsupportedAttributes: Set<String> = ["vwht", "tkid", "toid", "sysb", "UUID", "persistref"]
    /// The protection classes.
    static let protections: Set<String> = ["ak", "ck", "dk", "aku", "cku", "dku", "akpu"]

    /// A digest over the primary key: two items of this class are the same exactly when it is equal.
    func digest(of values: [String: KeychainValue]) -> [UInt8] {
        var bytes: [UInt8] = Array(name.utf8)
        for attribute in primaryKey {
            let kind = attributes[attribute] ?? .blob
            let part: [UInt8] =
                switch values[attribute].map(kind.comparisonKey) {
                case .data(let data): data
                case .string(let text): Array(text.utf8)
                case .integer(let integer): Array("\(integer)".utf8)
                default: []
                }
            withUnsafeBytes(of: UInt64(part.count).bigEndian) { bytes += $0 }
            bytes += part
        }
        return Array(SHA256.digest(of: bytes).prefix(20))
    }
}
