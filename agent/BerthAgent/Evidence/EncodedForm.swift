/// One way in which a value can stand in a file: for each of its positions the byte sequences that mean it there.
struct EncodedForm: Sendable {
    /// What can stand at one position.
    struct Position: Sendable {
        /// None of them is empty.
        let alternatives: [[UInt8]]
        /// Length of the longest alternative in bytes.
        let longest: Int

        init(_ alternatives: [[UInt8]]) {
            self.alternatives = alternatives
            longest = alternatives.reduce(0) { max($0, $1.count) }
        }
    }

    /// For messages, such as `base64`.
    let name: String
    let positions: [Position]
    /// The longest stretch that the form can take, in bytes.
    let longest: Int

    private init(_ name: String, _ positions: [Position]) {
        self.name = name
        self.positions = positions
        longest = positions.reduce(0) { $0 + $1.longest }
    }

    /// The bytes that the form can begin with.
    var beginnings: [UInt8] { positions.first?.alternatives.map { $0[0] } ?? [] }

    /// The end of the longest occurrence that starts at `start`, or nil.
    func end(in bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> Int? {
        // Nearly every place falls out at its first or second position, before anything is taken down.
        guard begins(in: bytes, at: start) else { return nil }
        var places = [start]
        var next: [Int] = []
        for position in positions {
            next.removeAll(keepingCapacity: true)
            for place in places {
                for alternative in position.alternatives where Self.stands(alternative, in: bytes, at: place) {
                    let end = place + alternative.count
                    if !next.contains(end) { next.append(end) }
                }
            }
            if next.isEmpty { return nil }
            swap(&places, &next)
        }
        return places.max()
    }

    private func begins(in bytes: UnsafeBufferPointer<UInt8>, at start: Int) -> Bool {
        guard positions.count > 1 else { return !positions.isEmpty }
        return positions[0].alternatives.contains { first in
            Self.stands(first, in: bytes, at: start)
                && positions[1].alternatives.contains { Self.stands($0, in: bytes, at: start + first.count) }
        }
    }

    private static func stands(_ wanted: [UInt8], in bytes: UnsafeBufferPointer<UInt8>, at place: Int) -> Bool {
        guard place + wanted.count <= bytes.count else { return false }
        for index in wanted.indices where bytes[place + index] != wanted[index] { return false }
        return true
    }

    /// All forms of a value that is searched for.
    static func all(of value: [UInt8]) -> [EncodedForm] {
        [
            EncodedForm("plain or escaped", value.map { escapes[Int($0)] }),
            EncodedForm("hexadecimal", value.flatMap { hexadecimal[Int($0)] }),
            EncodedForm("UTF-16 LE", value.map { Position([[$0, 0]]) }),
            EncodedForm("UTF-16 BE", value.map { Position([[0, $0]]) }),
        ] + (0..<3).compactMap { base64(value, alignment: $0) }
    }

    /// By byte; made once, since each attempt has a canary of its own.
    private static let escapes = (0...UInt8.max).map { Position(escapes($0)) }
    private static let hexadecimal = (0...UInt8.max).map { hexadecimal($0).map(Position.init) }

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
        let shifted = [UInt8](repeating: 0, count: alignment) + value
        let first = (alignment * 8 + 5) / 6
        let last = shifted.count * 8 / 6
        guard first < last else { return nil }
        let positions = (first..<last).map { index -> [[UInt8]] in
            // Six bits from two bytes, of which the second may be past the end and not needed.
            let (byte, bit) = (index * 6).quotientAndRemainder(dividingBy: 8)
            let pair = UInt16(shifted[byte]) << 8 | (byte + 1 < shifted.count ? UInt16(shifted[byte + 1]) : 0)
            let character = alphabet[Int(pair >> UInt16(10 - bit) & 63)]
            switch character {
            case UInt8(ascii: "+"): return [[character], Array("-".utf8), Array("%2B".utf8), Array("%2b".utf8)]
            case UInt8(ascii: "/"):
                return [[character], Array("_".utf8), Array("\\/".utf8), Array("%2F".utf8), Array("%2f".utf8)]
            default: return [[character]]
            }
        }
        return EncodedForm("base64", positions.map(Position.init))
    }

    private static func hex(_ byte: UInt8, upper: Bool) -> String {
        let text = String(byte, radix: 16, uppercase: upper)
        return text.utf8.count == 1 ? "0" + text : text
    }
}
