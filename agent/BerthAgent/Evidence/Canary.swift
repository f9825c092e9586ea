import BerthCore
import BerthSystem

/// The token value that the probe plants in an attempt. It is derived here only to be searched for (docs/formats.md).
package struct Canary: Sendable {
    private static let alphabet = Array(##"ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz2345"\/<>&%+='~"##.utf8)

    /// The 32 characters.
    package let bytes: [UInt8]

    /// - Parameter nonce: 32 hexadecimal digits; nil for anything else.
    package init?(nonce: String) {
        guard nonce.utf8.count == 32, let key = Hex.decode(nonce) else { return nil }
        bytes = HMAC256.code(key: key, message: Array("berth canary 1".utf8)).map { Self.alphabet[Int($0) % 64] }
    }

    /// What the verifying launch is given instead of the value.
    package var digest: Digest { Digest(bytes: SHA256.digest(of: bytes)) }

    /// The digest of what a malformed seed writes: the canary and two bytes that are no text.
    package var malformedDigest: Digest { Digest(bytes: SHA256.digest(of: bytes + [0x00, 0xff])) }
}
