/// HMAC with SHA-256 (RFC 2104).
package enum HMAC256 {
    /// The 32-byte code of a message under a key.
    package static func code(key: [UInt8], message: [UInt8]) -> [UInt8] {
        var block = key.count > 64 ? SHA256.digest(of: key) : key
        block += [UInt8](repeating: 0, count: 64 - block.count)
        let inner = SHA256.digest(of: block.map { $0 ^ 0x36 } + message)
        return SHA256.digest(of: block.map { $0 ^ 0x5c } + inner)
    }
}
