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
        let unreserved = CharacterSet(charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
        let url = canary.addingPercentEncoding(withAllowedCharacters: unreserved) ?? canary
        let hex = Hex.encode(raw)
        var forms: [[UInt8]] = [raw, json, Array(url.utf8), Array(hex.utf8), Array(hex.uppercased().utf8)]
        forms.append(raw.reduce(into: []) { wide, byte in wide += [byte, 0] })
        for shift in 0..<3 {
            // The middle of the base64 text is the same wherever the value stands in threes of bytes.
            let text = Data([UInt8](repeating: 65, count: shift) + raw).base64EncodedString()
            forms.append(Array(text.utf8.dropFirst(4).dropLast(4)))
        }
        return forms
    }

    private static func contains(_ content: Data, _ needle: [UInt8]) -> Bool {
        content.withUnsafeBytes { (bytes: UnsafeRawBufferPointer) in
            guard var place = bytes.baseAddress, let first = needle.first else { return false }
            let end = place + bytes.count
            while end - place >= needle.count, let hit = memchr(place, Int32(first), end - place) {
                let candidate = UnsafeRawPointer(hit)
                if end - candidate >= needle.count, memcmp(candidate, needle, needle.count) == 0 { return true }
                place = candidate + 1
            }
            return false
        }
    }

    static func files(with canaries: [String], under folder: String) throws -> [String] {
        let needles = canaries.flatMap(encodings)
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
            if needles.contains(where: { contains(content, $0) }) { hits.append(path) }
        }
        return hits
    }
}
