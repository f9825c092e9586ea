import Foundation
import Security

/// What a read found. Not every failure is "nothing there" (D1): a locked device or a missing right must not look like
/// a user who never signed in.
public enum KeychainReadResult: Equatable, Sendable {
    /// The item is there, with this value.
    case found(Data)
    /// No item that this build can see matches the query (`errSecItemNotFound`).
    case missing
    /// The keychain refused or could not answer; the item may well be there.
    case failed(OSStatus)
}
