/// The SHA-256 digest that names a blob, written `sha256:` and 64 lower-case hexadecimal digits.
package struct Digest: Sendable, Hashable, Comparable, Codable, CustomStringConvertible {
    /// The 64 hexadecimal digits.
    package let hex: String

    private static let digits = Array("0123456789abcdef".utf8)
    private static let prefix = Array("sha256:".utf8)

    /// Reads the written form; nil for anything else.
    package init?(_ text: some StringProtocol) {
        // Over plain bytes: every claim, message and ledger entry reads some.
        var text = String(text)
        let hex = text.withUTF8 { bytes -> String? in
            guard bytes.count == 71 else { return nil }
            for index in 0..<7 where bytes[index] != Self.prefix[index] { return nil }
            for index in 7..<71 where !Self.isHexDigit(bytes[index]) { return nil }
            return String(decoding: bytes[7...], as: UTF8.self)
        }
        guard let hex else { return nil }
        self.hex = hex
    }

    /// - Parameter bytes: the 32 bytes of a SHA-256 digest.
    package init(bytes: [UInt8]) {
        precondition(bytes.count == 32, "a SHA-256 digest has 32 bytes")
        hex = String(unsafeUninitializedCapacity: 64) { text in
            for (index, byte) in bytes.enumerated() {
                text[2 * index] = Self.digits[Int(byte >> 4)]
                text[2 * index + 1] = Self.digits[Int(byte & 15)]
            }
            return 64
        }
    }

    /// The 32 bytes.
    package var bytes: [UInt8] {
        let digits = Array(hex.utf8).map { $0 < 58 ? $0 - 48 : $0 - 87 }
        return stride(from: 0, to: 64, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }

    package var description: String { "sha256:\(hex)" }

    /// The first twelve digits, for people.
    package var short: String { String(hex.prefix(12)) }

    package static func < (left: Digest, right: Digest) -> Bool { left.hex < right.hex }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let digest = Digest(text) else {
            throw DecodingError.dataCorruptedError(
                in: container,
                debugDescription: "\(text.prefix(80)) is no digest; it must be sha256: and 64 lower-case hex digits"
            )
        }
        self = digest
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        (48...57).contains(byte) || (97...102).contains(byte)
    }
}
