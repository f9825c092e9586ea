import Foundation

/// When and by whose consent an item may be used. Immutable, so it may be shared between threads.
public final class SecAccessControl: NSObject, Sendable {
    /// One of the wire strings of `kSecAttrAccessible…`.
    let protection: String
    /// Raw value of `SecAccessControlCreateFlags`.
    let flags: UInt

    init(protection: String, flags: UInt) {
        self.protection = protection
        self.flags = flags
    }

    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? SecAccessControl else { return false }
        return protection == other.protection && flags == other.flags
    }

    public override var hash: Int { protection.hashValue ^ flags.hashValue }
}

/// Consent that an item asks for. The simulated device stores no item that asks for any and answers
/// `errSecUnimplemented`.
public struct SecAccessControlCreateFlags: OptionSet, Sendable {
    public let rawValue: UInt

    public init(rawValue: UInt) {
        self.rawValue = rawValue
    }

    public static let userPresence = SecAccessControlCreateFlags(rawValue: 1 << 0)
    public static let biometryAny = SecAccessControlCreateFlags(rawValue: 1 << 1)
    public static let touchIDAny = biometryAny
    public static let biometryCurrentSet = SecAccessControlCreateFlags(rawValue: 1 << 3)
    public static let touchIDCurrentSet = biometryCurrentSet
    public static let devicePasscode = SecAccessControlCreateFlags(rawValue: 1 << 4)
    public static let or = SecAccessControlCreateFlags(rawValue: 1 << 14)
    public static let and = SecAccessControlCreateFlags(rawValue: 1 << 15)
    public static let privateKeyUsage = SecAccessControlCreateFlags(rawValue: 1 << 30)
    public static let applicationPassword = SecAccessControlCreateFlags(rawValue: 1 << 31)
}

/// Makes an access control object.
///
/// - Parameters:
///   - allocator: nil.
///   - protection: one of `kSecAttrAccessible…`.
///   - flags: the consent that is asked for.
///   - error: left alone.
/// - Returns: nil when `protection` is no string.
public func SecAccessControlCreateWithFlags(
    _ allocator: AnyObject?,
    _ protection: CFTypeRef,
    _ flags: SecAccessControlCreateFlags,
    _ error: UnsafeMutablePointer<AnyObject?>?
) -> SecAccessControl? {
    guard let protection = protection as? NSString else { return nil }
    return SecAccessControl(protection: String(describing: protection), flags: flags.rawValue)
}
