import Foundation

/// HMAC-SHA-256 (RFC 2104).
enum HMAC256 {
    /// The 32 bytes of the code of `message` under `key`.
    static func code(key: [UInt8], message: [UInt8]) -> [UInt8] {
        var block = key.count > 64 ? SHA256.digest(of: key) : key
        block.append(contentsOf: repeatElement(0, count: 64 - block.count))
        let inner = SHA256.digest(of: block.map { $0 ^ 0x36 } + message)
        return SHA256.digest(of: block.map { $0 ^ 0x5c } + inner)
    }
}
