import BerthSystem
import Foundation

/// The token's value of an attempt, derived as docs/formats.md says, by code of its own.
enum Canary {
    private static let alphabet = Array(#"ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz2345"\/<>&%+='~"#.utf8)

    static func text(nonce: String) -> String {
        let code = HMAC256.code(key: Hex.decode(nonce) ?? [], message: Array("berth canary 1".utf8))
        return String(decoding: code.map { alphabet[Int($0) % 64] }, as: UTF8.self)
    }
}

/// Looks for canaries in every file under a folder but keychain databases.
enum CanarySearch {
    /// The forms in which a value may hide.
    static func encodings(of canary: String) -> [[UInt8]] {
        let raw = Array(canary.utf8)
        let json = (try? JSONEncoder().encode([canary])).map { Array($0.dropFirst(2).dropLast(2)) } ?? raw
        let url = raw.map { byte in
            let isPlain =
                byte < 128 && (Character(UnicodeScalar(byte)).isLetter || Character(UnicodeScalar(byte)).isNumber)
            return isPlain ? String(UnicodeScalar(byte)) : String(format: "%%%02X", byte)
        }.joined()
        // The middle of the base64 text is the same wherever the value stands in threes of bytes.
        let base64 = (0..<3).map { shift in
            let text = Data([UInt8](repeating: 65, count: shift) + raw).base64EncodedString()
            return Array(text.utf8.dropFirst(4).dropLast(4))
        }
        let wide: [UInt8] = raw.flatMap { [$0, 0] as [UInt8] }
        return [
            raw, json, Array(url.utf8), Array(Hex.encode(raw).utf8), Array(Hex.encode(raw).uppercased().utf8), wide,
        ] + base64
    }

    static func files(with canaries: [String], under folder: String) throws -> [String] {
        let needles = canaries.flatMap(encodings).map { Data($0) }
        var hits: [String] = []
        let files = FileManager.default.enumerator(atPath: folder)
        while let relative = files?.nextObject() as? String {
            let path = "\(folder)/\(relative)"
            let name = (relative as NSString).lastPathComponent
            var status = stat()
            guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, !name.hasPrefix("keychain-2-debug.db"),
                !relative.hasPrefix("runtimes/")
            else { continue }
            let content = try Data(contentsOf: URL(fileURLWithPath: path), options: .mappedIfSafe)
            if needles.contains(where: { content.range(of: $0) != nil }) { hits.append(path) }
        }
        return hits
    }
}
