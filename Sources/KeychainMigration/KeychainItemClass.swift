import Foundation
import Security

/// The class of a keychain item: the first field of its contract (C1).
///
/// Only generic passwords are named by service and account, which is what a migration with this library compares.
public enum KeychainItemClass: String, Sendable {
    /// `kSecClassGenericPassword`; the raw value is the constant's own text.
    case genericPassword = "genp"

    /// The value for `kSecClass` in a query.
    public var securityValue: CFString {
        switch self {
        case .genericPassword: kSecClassGenericPassword
        }
    }
}
