import BerthCore
import BerthSystem

extension Digest {
    /// The digest of some bytes.
    package static func sha256(of bytes: some Collection<UInt8>) -> Digest {
        Digest(bytes: SHA256.digest(of: bytes))
    }
}
