import BerthSystem
import FoundationEssentials

/// A host's public key. Encodes as one string, the line of a `.pub` file without comment.
package struct HostKey: Sendable, Hashable, CustomStringConvertible {
    /// The key types that libssh2 1.10 can verify with current servers, best first.
    package static let supportedAlgorithms = [
        "ssh-ed25519", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521",
    ]

    /// Such as `ssh-ed25519`.
    package let algorithm: String
    /// The key as it goes over the wire.
    package let blob: [UInt8]

    /// A key from its wire form, which names its algorithm.
    /// - Throws: `SSHError.hostKeyMalformed`
    package init(blob: [UInt8]) throws(SSHError) {
        guard let name = Self.firstString(of: blob), !name.isEmpty, name.allSatisfy({ $0.isASCII && !$0.isWhitespace })
        else { throw .hostKeyMalformed(reason: "the key data does not begin with the name of its type") }
        algorithm = name
        self.blob = blob
    }

    /// A key from a line of a `.pub` or known_hosts file; a comment at its end and host names before it are ignored.
    /// - Throws: `SSHError.hostKeyMalformed`
    package init(line: String) throws(SSHError) {
        let fields = line.split(whereSeparator: \.isWhitespace).map(String.init)
        guard let position = fields.firstIndex(where: { $0.hasPrefix("ssh-") || $0.hasPrefix("ecdsa-") }),
            position + 1 < fields.count
        else { throw .hostKeyMalformed(reason: "\"\(line.prefix(80))\" names no key type with data after it") }
        guard let data = Data(base64Encoded: fields[position + 1]) else {
            throw .hostKeyMalformed(reason: "what follows \(fields[position]) is not base64")
        }
        try self.init(blob: [UInt8](data))
        guard algorithm == fields[position] else {
            throw .hostKeyMalformed(reason: "the line says \(fields[position]), its data \(algorithm)")
        }
    }

    /// `SHA256:` and the unpadded base64 digest, as OpenSSH prints it.
    package var fingerprint: String {
        let text = Data(SHA256.digest(of: blob)).base64EncodedString()
        return "SHA256:" + text.prefix { $0 != "=" }
    }

    /// Type and base64 data, as in a `.pub` file.
    package var line: String { "\(algorithm) \(Data(blob).base64EncodedString())" }

    package var description: String { "\(algorithm) \(fingerprint)" }

    /// The first length-prefixed string of a wire form.
    static func firstString(of bytes: [UInt8]) -> String? {
        guard bytes.count >= 4 else { return nil }
        let length = bytes[0..<4].reduce(0) { $0 << 8 | Int($1) }
        guard length <= bytes.count - 4 else { return nil }
        return String(validating: bytes[4..<4 + length], as: UTF8.self)
    }
}

extension HostKey: Codable {
    package init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        try self.init(line: text)
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(line)
    }
}
