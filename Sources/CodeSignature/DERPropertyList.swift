/// Reads the DER form of entitlements: `70 { 02 version 1, b0 { 30 { 0c key, value }… } }`.
package enum DERPropertyList {
    /// The dictionary in DER-encoded entitlements.
    /// - Throws: `CodeSignatureError.malformed`
    package static func read(_ window: ByteWindow) throws(CodeSignatureError) -> PropertyListValue {
        var outer = Reader(window, window.bytes.indices)
        let whole = try outer.element("the entitlements")
        guard whole.tag == 0x70 else {
            throw outer.problem(whole.start, "tag \(hex(whole.tag)) begins no entitlements")
        }
        guard outer.isAtEnd else { throw outer.problem(outer.place, "bytes after the entitlements") }
        var inner = Reader(window, whole.content)
        let version = try inner.element("the version")
        guard version.tag == 0x02, window.bytes[version.content].elementsEqual([1]) else {
            throw inner.problem(version.start, "the version is not 1")
        }
        let dictionary = try inner.element("the dictionary")
        guard dictionary.tag == 0xb0 else {
            throw inner.problem(dictionary.start, "tag \(hex(dictionary.tag)) begins no dictionary")
        }
        guard inner.isAtEnd else { throw inner.problem(inner.place, "bytes after the dictionary") }
        return try value(dictionary, window, depth: 0)
    }

    /// Tag and place of one encoded value.
    private struct Element {
        let tag: UInt8
        /// Where the tag stands.
        let start: Int
        let content: Range<Int>
    }

    private struct Reader {
        private let window: ByteWindow
        private let end: Int
        private(set) var place: Int

        init(_ window: ByteWindow, _ range: Range<Int>) {
            self.window = window
            place = range.lowerBound
            end = range.upperBound
        }

        var isAtEnd: Bool { place == end }

        func problem(_ place: Int, _ words: String) -> CodeSignatureError {
            window.malformed(place, "DER entitlements: \(words)")
        }

        mutating func element(_ name: String) throws(CodeSignatureError) -> Element {
            let start = place
            guard end - place >= 2 else { throw problem(start, "\(name) is missing") }
            let tag = window.bytes[place]
            var length = Int(window.bytes[place + 1])
            place += 2
            if length >= 0x80 {
                let count = length & 0x7f
                guard (1...4).contains(count), end - place >= count else {
                    throw problem(start + 1, "the length of \(name) is none")
                }
                length = window.bytes[place..<(place + count)].reduce(0) { $0 << 8 | Int($1) }
                place += count
                guard length >= 0x80 else {
                    throw problem(start + 1, "the length of \(name) is not in its shortest form")
                }
            }
            guard length <= end - place else {
                throw problem(start + 1, "\(name) of \(length) bytes reaches beyond what holds it")
            }
            let content = place..<(place + length)
            place += length
            return Element(tag: tag, start: start, content: content)
        }
    }

    private static func value(
        _ element: Element,
        _ window: ByteWindow,
        depth: Int
    ) throws(CodeSignatureError) -> PropertyListValue {
        var reader = Reader(window, element.content)
        guard depth < PropertyListValue.depthLimit else {
            throw reader.problem(element.start, "nested deeper than \(PropertyListValue.depthLimit) levels")
        }
        let bytes = window.bytes[element.content]
        switch element.tag {
        case 0x01:
            guard bytes.count == 1 else { throw reader.problem(element.start, "a boolean of \(bytes.count) bytes") }
            return .boolean(bytes.first != 0)
        case 0x02:
            guard (1...8).contains(bytes.count), let first = bytes.first else {
                throw reader.problem(element.start, "an integer of \(bytes.count) bytes")
            }
            return .integer(bytes.reduce(first & 0x80 == 0 ? 0 : -1) { $0 << 8 | Int64($1) })
        case 0x04: return .data(Array(bytes))
        case 0x0c: return .string(try text(element, window))
        case 0x30:
            var values: [PropertyListValue] = []
            while !reader.isAtEnd {
                values.append(try value(try reader.element("an array's value"), window, depth: depth + 1))
            }
            return .array(values)
        case 0xb0, 0x31:
            var entries: [String: PropertyListValue] = [:]
            while !reader.isAtEnd {
                let pair = try reader.element("a dictionary's entry")
                guard pair.tag == 0x30 else { throw reader.problem(pair.start, "tag \(hex(pair.tag)) begins no entry") }
                var parts = Reader(window, pair.content)
                let name = try parts.element("a key")
                guard name.tag == 0x0c else { throw parts.problem(name.start, "tag \(hex(name.tag)) begins no key") }
                let key = try text(name, window)
                guard entries[key] == nil else {
                    throw parts.problem(name.start, "the key \(key.prefix(200)) is there twice")
                }
                entries[key] = try value(try parts.element("the value of \(key.prefix(200))"), window, depth: depth + 1)
                guard parts.isAtEnd else {
                    throw parts.problem(parts.place, "bytes after the value of \(key.prefix(200))")
                }
            }
            return .dictionary(entries)
        default: throw reader.problem(element.start, "tag \(hex(element.tag)) is no value of entitlements")
        }
    }

    private static func text(_ element: Element, _ window: ByteWindow) throws(CodeSignatureError) -> String {
        guard let text = String(validating: window.bytes[element.content], as: UTF8.self) else {
            throw window.malformed(element.start, "DER entitlements: a text that is not UTF-8")
        }
        return text
    }

    private static func hex(_ byte: UInt8) -> String { "0x" + String(byte, radix: 16) }
}
