import Foundation

/// Reads XML property lists of unknown origin: no external entities, no recursion without a bound, and an error with
/// its offset for whatever is none.
package struct XMLPropertyList {
    private let bytes: [UInt8]
    private let origin: UInt64
    private var place = 0

    private init(_ window: ByteWindow) {
        bytes = window.bytes
        origin = window.origin
    }

    /// The value of a property list.
    /// - Throws: `CodeSignatureError.malformed`
    package static func read(_ window: ByteWindow) throws(CodeSignatureError) -> PropertyListValue {
        guard String(validating: window.bytes, as: UTF8.self) != nil else {
            throw window.malformed(0, "the XML property list is not written in UTF-8")
        }
        var reader = XMLPropertyList(window)
        if reader.bytes.starts(with: [0xef, 0xbb, 0xbf]) { reader.place = 3 }
        var tag = try reader.tag()
        guard tag.name == "plist", !tag.closes else { throw reader.problem("<plist> is expected, not <\(tag.name)>") }
        guard !tag.isEmpty else { throw reader.problem("the property list is empty") }
        let value = try reader.value(try reader.tag(), depth: 0)
        tag = try reader.tag()
        guard tag.name == "plist", tag.closes else { throw reader.problem("</plist> is expected") }
        return value
    }

    private struct Tag {
        let name: String
        /// `</name>`
        let closes: Bool
        /// `<name/>`
        let isEmpty: Bool
    }

    private func problem(_ words: String) -> CodeSignatureError {
        .malformed(offset: origin + UInt64(place), problem: "XML property list: \(words)")
    }

    private mutating func value(_ tag: Tag, depth: Int) throws(CodeSignatureError) -> PropertyListValue {
        guard depth < PropertyListValue.depthLimit else {
            throw problem("nested deeper than \(PropertyListValue.depthLimit) levels")
        }
        guard !tag.closes else { throw problem("</\(tag.name)> closes nothing") }
        switch tag.name {
        case "dict": return .dictionary(try dictionary(tag, depth: depth))
        case "array":
            var values: [PropertyListValue] = []
            while !tag.isEmpty {
                let next = try self.tag()
                if next.closes, next.name == "array" { break }
                values.append(try value(next, depth: depth + 1))
            }
            return .array(values)
        case "true", "false":
            if !tag.isEmpty, !(try text(tag)).allSatisfy(\.isWhitespace) { throw problem("<\(tag.name)> has a text") }
            return .boolean(tag.name == "true")
        case "string": return .string(try text(tag))
        case "date": return .date(try text(tag).trimmingCharacters(in: .whitespacesAndNewlines))
        case "integer":
            let words = try text(tag).trimmingCharacters(in: .whitespacesAndNewlines)
            guard let number = Self.integer(words) else { throw problem("an <integer> that is none") }
            return .integer(number)
        case "real":
            let words = try text(tag).trimmingCharacters(in: .whitespacesAndNewlines)
            guard let number = Double(words) else { throw problem("a <real> that is none") }
            return .real(number)
        case "data":
            let words = try text(tag).filter { !$0.isWhitespace }
            guard let data = Data(base64Encoded: words) else { throw problem("<data> that is not base64") }
            return .data([UInt8](data))
        default: throw problem("<\(tag.name)> is no element of property lists")
        }
    }

    private mutating func dictionary(_ tag: Tag, depth: Int) throws(CodeSignatureError) -> [String: PropertyListValue] {
        var entries: [String: PropertyListValue] = [:]
        while !tag.isEmpty {
            let next = try self.tag()
            if next.closes, next.name == "dict" { break }
            guard next.name == "key", !next.closes else { throw problem("<key> is expected, not <\(next.name)>") }
            let key = try text(next)
            guard entries[key] == nil else { throw problem("the key \(key.prefix(200)) is there twice") }
            entries[key] = try value(try self.tag(), depth: depth + 1)
        }
        return entries
    }

    private static func integer(_ text: String) -> Int64? {
        let isNegative = text.hasPrefix("-")
        let digits = text.drop { $0 == "-" || $0 == "+" }
        guard text.count - digits.count <= 1 else { return nil }
        guard digits.hasPrefix("0x") || digits.hasPrefix("0X") else { return Int64(text) }
        return Int64(digits.dropFirst(2), radix: 16).map { isNegative ? -$0 : $0 }
    }

    /// The next element's tag, after white space, comments, and what stands before the first element.
    private mutating func tag() throws(CodeSignatureError) -> Tag {
        while true {
            while place < bytes.count, [0x20, 0x09, 0x0a, 0x0d].contains(bytes[place]) { place += 1 }
            guard place < bytes.count else { throw problem("it ends in the middle") }
            guard bytes[place] == UInt8(ascii: "<") else { throw problem("a text where an element is expected") }
            if starts("<!--") {
                try skip(past: "-->")
            } else if starts("<?") {
                try skip(past: "?>")
            } else if starts("<!") {
                // A document type; one with declarations of its own is no property list.
                let start = place
                try skip(past: ">")
                guard !bytes[start..<place].contains(UInt8(ascii: "[")) else {
                    throw problem("the document type declares entities")
                }
            } else {
                break
            }
        }
        let start = place + 1
        try skip(past: ">")
        var words = bytes[start..<(place - 1)]
        let closes = words.first == UInt8(ascii: "/")
        if closes { words = words.dropFirst() }
        let isEmpty = words.last == UInt8(ascii: "/")
        if isEmpty { words = words.dropLast() }
        let name = words.prefix { ![0x20, 0x09, 0x0a, 0x0d].contains($0) }.prefix(80)
        return Tag(name: String(decoding: name, as: UTF8.self), closes: closes, isEmpty: isEmpty && !closes)
    }

    /// The text of an element up to its closing tag.
    private mutating func text(_ tag: Tag) throws(CodeSignatureError) -> String {
        guard !tag.isEmpty else { return "" }
        var collected: [UInt8] = []
        while true {
            guard place < bytes.count else { throw problem("<\(tag.name)> has no end") }
            if starts("<![CDATA[") {
                let start = place + 9
                try skip(past: "]]>")
                collected += bytes[start..<max(start, place - 3)]
            } else if starts("<!--") {
                try skip(past: "-->")
            } else if bytes[place] == UInt8(ascii: "<") {
                let closing = try self.tag()
                guard closing.closes, closing.name == tag.name else { throw problem("<\(tag.name)> holds an element") }
                return String(decoding: collected, as: UTF8.self)
            } else if bytes[place] == UInt8(ascii: "&") {
                collected += try entity()
            } else {
                collected.append(bytes[place])
                place += 1
            }
        }
    }

    private mutating func entity() throws(CodeSignatureError) -> [UInt8] {
        let rest = bytes[(place + 1)...].prefix(12)
        guard let end = rest.firstIndex(of: UInt8(ascii: ";")) else { throw problem("an & that begins no entity") }
        let name = String(decoding: rest[..<end], as: UTF8.self)
        let known = ["amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'"]
        if let text = known[name] {
            place = end + 1
            return Array(text.utf8)
        }
        let digits = name.dropFirst()
        let number = digits.hasPrefix("x") ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
        guard name.hasPrefix("#"), let number, let scalar = Unicode.Scalar(number) else {
            throw problem("&\(name); is no entity of property lists")
        }
        place = end + 1
        return Array(String(Character(scalar)).utf8)
    }

    private func starts(_ text: StaticString) -> Bool {
        text.withUTF8Buffer { bytes[place...].starts(with: $0) }
    }

    private mutating func skip(past text: String) throws(CodeSignatureError) {
        let wanted = Array(text.utf8)
        var end = place
        while end + wanted.count <= bytes.count {
            if bytes[end..<(end + wanted.count)].elementsEqual(wanted) {
                place = end + wanted.count
                return
            }
            end += 1
        }
        throw problem("\(text) is missing")
    }
}
