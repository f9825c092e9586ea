import BerthAgent
import Foundation
import Testing

/// D2: the token is found in every form in which it could be stored, wherever the pieces are cut.
@Suite struct CanarySearchTests {
    private let canary: Canary
    private let text: String

    init() throws {
        canary = try #require(Canary(nonce: "5f1c0a9be2d34477a8c0d1e2f3a4b5c6"))
        text = String(decoding: canary.bytes, as: UTF8.self)
    }

    @Test("the canary of a nonce is the probe's: derived by HMAC, in an alphabet that needs escaping")
    func derivation() {
        // Made once with another implementation of HMAC-SHA-256.
        #expect(text == Self.known)
        #expect(text.utf8.count == 32)
        #expect(Canary(nonce: "5F1C0A9BE2D34477A8C0D1E2F3A4B5C6") == nil)
        #expect(Canary(nonce: "5f1c") == nil)
    }

    @Test("every form is found and masked at its length, at every cut of the stream")
    func forms() throws {
        let fresh = CanarySearch(canary)
        for (name, form) in try planted() {
            let content = Array("before ".utf8) + form + Array(" after".utf8)
            for cut in stride(from: 0, through: content.count, by: 1) {
                var search = fresh
                var out = search.feed(content[..<cut])
                out += search.feed(content[cut...])
                out += search.finish()
                #expect(!search.found.isEmpty, "\(name), cut at \(cut)")
                #expect(out.count == content.count, "\(name)")
                guard !search.found.isEmpty else { return }
            }
            // Byte by byte, too.
            var search = fresh
            var out: [UInt8] = []
            for byte in content { out += search.feed([byte]) }
            out += search.finish()
            #expect(!search.found.isEmpty, "\(name), byte by byte")
            #expect(CanarySearch.mask(out, canary).found.isEmpty, "\(name)")
            #expect(out.starts(with: Array("before ".utf8)) && out.suffix(6).elementsEqual(Array(" after".utf8)))
        }
    }

    @Test("what is no canary passes unchanged, also when it begins like one or is long")
    func innocent() {
        let almost = Array(canary.bytes.dropLast()) + [UInt8(ascii: "!")]
        let content = (0..<200).flatMap { _ in almost } + (0..<50_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        var search = CanarySearch(canary)
        let out = search.feed(content) + search.finish()
        #expect(out == content)
        #expect(search.found.isEmpty)
    }

    @Test("several occurrences in different forms are all masked")
    func several() {
        let content = Array("\(text) and \(Data(canary.bytes).base64EncodedString())\(text)".utf8)
        let (masked, found) = CanarySearch.mask(content, canary)
        #expect(found.count == 2)
        #expect(CanarySearch.mask(masked, canary).found.isEmpty)
        #expect(masked.count == content.count)
    }

    /// The canary in all forms, made by other means than the search's own.
    private func planted() throws -> [(String, [UInt8])] {
        let bytes = canary.bytes
        var forms: [(String, [UInt8])] = [("raw", bytes)]
        forms.append(("JSON", Array(try JSONEncoder().encode(text))))
        forms.append(
            (
                "JSON without escaped slashes",
                Array(
                    try JSONSerialization.data(
                        withJSONObject: [text],
                        options: [.withoutEscapingSlashes]
                    )
                )
            )
        )
        for format in ["\\u%04x", "\\u%04X", "%%%02x", "%%%02X", "&#%d;", "&#x%x;", "&#x%X;"] {
            forms.append((format, Array(bytes.map { String(format: format, Int($0)) }.joined().utf8)))
        }
        let allowed = CharacterSet.alphanumerics
        forms.append(("URL", Array((text.addingPercentEncoding(withAllowedCharacters: allowed) ?? "").utf8)))
        var xml = text
        for (plain, entity) in [("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("\"", "&quot;"), ("'", "&apos;")] {
            xml = xml.replacingOccurrences(of: plain, with: entity)
        }
        forms.append(("XML", Array(xml.utf8)))
        forms.append(("hex", Array(bytes.map { String(format: "%02x", $0) }.joined().utf8)))
        forms.append(("HEX", Array(bytes.map { String(format: "%02X", $0) }.joined().utf8)))
        forms.append(("UTF-16 LE", Array(text.data(using: .utf16LittleEndian) ?? Data())))
        forms.append(("UTF-16 BE", Array(text.data(using: .utf16BigEndian) ?? Data())))
        for padding in 0..<3 {
            let base64 = Data([UInt8](repeating: 0xa5, count: padding) + bytes + [0x5a]).base64EncodedString()
            forms.append(("base64 at \(padding)", Array(base64.utf8)))
            let safe = base64.replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
            forms.append(("base64url at \(padding)", Array(safe.utf8)))
            forms.append(
                ("base64 in JSON at \(padding)", Array(base64.replacingOccurrences(of: "/", with: "\\/").utf8))
            )
        }
        return forms
    }

    private static let known = ##"~UWEmPjpsjQ3ihoCn~okD>F'MZ5=53\\"##
}
