import Foundation

/// The random number of an attempt. The suffix of its items and the value that the probe plants derive from it.
struct ProbeNonce: Equatable {
    /// 32 hexadecimal digits, as given.
    let digits: String
    private let bytes: [UInt8]

    /// The nonce that `digits` spell; nil unless they are 32 hexadecimal digits.
    init?(_ digits: String) {
        guard digits.utf8.count == 32, let bytes = Hexadecimal.decode(digits) else { return nil }
        self.digits = digits
        self.bytes = bytes
    }

    /// A new nonce from the system's random numbers.
    static func random() -> ProbeNonce {
        var generator = SystemRandomNumberGenerator()
        return ProbeNonce(bytes: (0..<16).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
    }

    private init(bytes: [UInt8]) {
        self.bytes = bytes
        self.digits = Hexadecimal.encode(bytes)
    }

    /// What ends service and account of every item of the attempt (X2).
    var suffix: String { "-" + digits.prefix(16) }

    /// The token value of the attempt. It is written to the keychain and nowhere else.
    var canary: Data {
        let code = HMAC256.code(key: bytes, message: Array("berth canary 1".utf8))
        return Data(code.map { Self.alphabet[Int($0) % Self.alphabet.count] })
    }

    /// A value that no app can have written as a token: the canary, so that a leak of it is found, and two bytes that are
    /// no text.
    var malformedCanary: Data { canary + Data([0x00, 0xff]) }

    /// 64 characters, of which many need escaping in JSON, URLs, XML and shells.
    private static let alphabet = Array(##"ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz2345"\/<>&%+='~"##.utf8)
}
