import BerthCore
import BerthSystem

/// A line of JSON with the start of a digest over what it says: `{"body":…,"check":"…"}`, without the line's end.
struct CheckedLine<Body: Codable>: Decodable {
    let body: Body
    let check: String

    /// The canonical form of a line around a body.
    /// - Throws: `EncodingError`
    static func bytes(_ body: Body) throws -> [UInt8] {
        let text = try CanonicalJSON.encode(body)
        return Array(#"{"body":"#.utf8) + text + Array(#","check":"\#(check(text))"}"#.utf8)
    }

    /// Whether the digest is that of the body.
    /// - Throws: `EncodingError`
    var isRight: Bool {
        get throws { Self.check(try CanonicalJSON.encode(body)) == check }
    }

    private static func check(_ text: [UInt8]) -> String {
        String(Hex.encode(SHA256.digest(of: text)).prefix(16))
    }
}
