import Foundation
import Security

/// When an item can be read: the value of `kSecAttrAccessible`, the fifth field of its contract (C1).
///
/// The raw value is the text of Apple's constant (`ak`, `ck`, …). It is open, because an item that was read back may
/// carry a value that no current constant names.
public struct KeychainAccessibility: RawRepresentable, Hashable, Sendable {
    /// The text of the constant, such as `ck`.
    public var rawValue: String

    /// An accessibility from the text of a constant.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// An accessibility from one of the `kSecAttrAccessible…` constants.
    public init(_ constant: CFString) {
        self.rawValue = constant as String
    }

    /// The value for `kSecAttrAccessible` in a query.
    public var securityValue: CFString { rawValue as CFString }

    /// `kSecAttrAccessibleWhenUnlocked`, the keychain's default.
    public static let whenUnlocked = KeychainAccessibility(kSecAttrAccessibleWhenUnlocked)

    /// `kSecAttrAccessibleAfterFirstUnlock`, for items that background code reads.
    public static let afterFirstUnlock = KeychainAccessibility(kSecAttrAccessibleAfterFirstUnlock)

    /// `kSecAttrAccessibleWhenUnlockedThisDeviceOnly`: lost when the data moves to another device.
    public static let whenUnlockedThisDeviceOnly =
        KeychainAccessibility(kSecAttrAccessibleWhenUnlockedThisDeviceOnly)

    /// `kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly`: lost when the data moves to another device.
    public static let afterFirstUnlockThisDeviceOnly =
        KeychainAccessibility(kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly)

    /// `kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly`: destroyed when the passcode is removed.
    public static let whenPasscodeSetThisDeviceOnly =
        KeychainAccessibility(kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly)
}
