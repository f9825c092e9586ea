/// One way in which a value can stand in a file: for each of its positions the byte sequences that mean it there.
struct EncodedForm: Sendable {
    /// For messages, such as `base64`.
    let name: String
    /// Per position the alternatives, none of them empty.
    let positions: [[[UInt8]]]
    /// The longest stretch that the form can take, in bytes.
    let longest: Int
    /// By byte, whether the form can begin with it.
    let beginnings: [Bool]

    private init(_ name: String, _ positions: [[[UInt8]]]) {
        self.name = name
        self.positions = positions
        longest = positions.reduce(0) { $0 + ($1.map(\.count).max() ?? 0) }
        var beginnings = [Bool](repeating: false, count: 256)
        for alternative in positions.first ?? [] { beginnings[Int(alternative[0])] = true }
        self.beginnings = beginnings
    }

    /// The end of the longest occurrence that starts at `start`, or nil.
    func end(in bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> Int? {
        guard start < bytes.count, beginnings[Int(bytes[start])] else { return nil }
        var places: Set<Int> = [start]
        for alternatives in positions {
            var next: Set<Int> = []
            for place in places {
                for alternative in alternatives where place + alternative.count <= bytes.count {
                    var matches = true
                    for index in alternative.indices where bytes[place + index] != alternative[index] {
                        matches = false
                        break
                    }
                    if matches { next.insert(place + alternative.count) }
                }
            }
            if next.isEmpty { return nil }
            places = next
        }
        return places.max()
    }

    /// All forms of a value that is searched for.
    static func all(of value: [UInt8]) -> [EncodedForm] {
        [
            EncodedForm("plain or escaped", value.map(escapes)),
            EncodedForm("hexadecimal", value.flatMap(hexadecimal)),
            EncodedForm("UTF-16 LE", value.map { [[$0, 0]] }),
            EncodedForm("UTF-16 BE", value.map { [[0, $0]] }),
        ] + (0..<3).compactMap { base64(value, alignment: $0) }
    }

    /// A character as itself and as JSON, URLs and XML may write it, in any mixture.
    private static func escapes(_ byte: UInt8) -> [[UInt8]] {
        func text(_ text: String) -> [UInt8] { Array(text.utf8) }
        let (lower, upper) = (hex(byte, upper: false), hex(byte, upper: true))
        var forms = [[byte]]
        for digits in Set([lower, upper]) {
            forms += [text("\\u00\(digits)"), text("%\(digits)"), text("&#x\(digits);")]
        }
        forms.append(text("&#\(byte);"))
        if "\"\\/".utf8.contains(byte) { forms.append([UInt8(ascii: "\\"), byte]) }
        let entities: [UInt8: String] = [
            UInt8(ascii: "<"): "&lt;", UInt8(ascii: ">"): "&gt;", UInt8(ascii: "&"): "&amp;",
            UInt8(ascii: "\""): "&quot;", UInt8(ascii: "'"): "&apos;",
        ]
        if let entity = entities[byte] { forms.append(text(entity)) }
        return forms
    }

    private static func hexadecimal(_ byte: UInt8) -> [[[UInt8]]] {
        zip(hex(byte, upper: false).utf8, hex(byte, upper: true).utf8).map { $0 == $1 ? [[$0]] : [[$0], [$1]] }
    }

    /// The characters that depend on the value alone when it starts at a byte offset of this remainder, in the
    /// standard and the URL-safe alphabet, with slash and plus escaped or not.
    private static func base64(_ value: [UInt8], alignment: Int) -> EncodedForm? {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        let bits = ([UInt8](repeating: 0, count: alignment) + value).flatMap { byte in
            (0..<8).map { byte >> (7 - UInt8($0)) & 1 }
        }
        let first = (alignment * 8 + 5) / 6
        let last = bits.count / 6
        guard first < last else { return nil }
        let positions = (first..<last).map { index -> [[UInt8]] in
            let character = alphabet[Int(bits[(index * 6)..<(index * 6 + 6)].reduce(0) { $0 << 1 | $1 })]
            switch character {
            case UInt8(ascii: "+"): return [[character], Array("-".utf8), Array("%2B".utf8), Array("%2b".utf8)]
            case UInt8(ascii: "/"):
                return [[character], Array("_".utf8), Array("\\/".utf8), Array("%2F".utf8), Array("%2f".utf8)]
            default: return [[character]]
            }
        }
        return EncodedForm("base64", positions)
    }

    private static func hex(_ byte: UInt8, upper: Bool) -> String {
        let text = String(byte, radix: 16, uppercase: upper)
        return text.utf8.count == 1 ? "0" + text : text
    }
}
