/// On which lines of a JSON document its values stand, by places such as `steps[2].phase`, and the first place where it
/// is no JSON, so that an error can name the line.
package struct JSONPositions: Sendable {
    /// What is no JSON, or has a key twice.
    package struct Problem: Sendable, Hashable {
        package let line: Int
        package let text: String
    }

    private static let deepest = 64

    package private(set) var problem: Problem?
    private var lines: [String: Int] = ["": 1]

    /// Scans a document.
    package init(_ bytes: [UInt8]) {
        var scanner = Scanner(bytes: bytes)
        do throws(Failure) {
            try scanner.value("", depth: 0)
            scanner.skipBlanks()
            if scanner.next != nil { throw Failure(text: "something follows the document") }
        } catch {
            problem = Problem(line: scanner.line, text: error.text)
        }
        lines.merge(scanner.lines) { _, new in new }
    }

    /// The line of a place, or of the nearest place around it that is there.
    package func line(of place: String) -> Int? {
        var place = place[...]
        while true {
            if let line = lines[String(place)] { return line }
            guard let end = place.lastIndex(where: { $0 == "." || $0 == "[" }) else { return place.isEmpty ? nil : 1 }
            place = place[..<end]
        }
    }

    private struct Failure: Error {
        let text: String
    }

    private struct Scanner {
        let bytes: [UInt8]
        var index = 0
        var line = 1
        var lines: [String: Int] = [:]

        init(bytes: [UInt8]) {
            self.bytes = bytes
        }

        var next: UInt8? { index < bytes.count ? bytes[index] : nil }

        mutating func skipBlanks() {
            while let byte = next, [32, 9, 10, 13].contains(byte) {
                if byte == 10 { line += 1 }
                index += 1
            }
        }

        private func take() -> String {
            guard let next else { return "the end of the file" }
            return (33..<127).contains(next) ? "`\(Character(UnicodeScalar(next)))`" : "a byte \(next)"
        }

        private mutating func expect(_ character: Character) throws(Failure) {
            skipBlanks()
            guard let byte = next, byte == character.asciiValue else {
                throw Failure(text: "expected `\(character)`, found \(take())")
            }
            index += 1
        }

        mutating func value(_ place: String, depth: Int) throws(Failure) {
            guard depth < JSONPositions.deepest else { throw Failure(text: "it is nested too deeply") }
            skipBlanks()
            lines[place] = lines[place] ?? line
            switch next {
            case UInt8(ascii: "{"): try object(place, depth)
            case UInt8(ascii: "["): try array(place, depth)
            case UInt8(ascii: "\""): _ = try string()
            default: try word()
            }
        }

        private mutating func object(_ place: String, _ depth: Int) throws(Failure) {
            try expect("{")
            skipBlanks()
            if next == UInt8(ascii: "}") {
                index += 1
                return
            }
            var seen: Set<String> = []
            while true {
                skipBlanks()
                guard next == UInt8(ascii: "\"") else {
                    throw Failure(text: "expected a key in quotes, found \(take())")
                }
                let start = line
                let key = try string()
                guard seen.insert(key).inserted else { throw Failure(text: "the key \(key) stands there twice") }
                let inner = place.isEmpty ? key : "\(place).\(key)"
                lines[inner] = start
                try expect(":")
                try value(inner, depth: depth + 1)
                if try !goesOn(until: "}") { return }
            }
        }

        private mutating func array(_ place: String, _ depth: Int) throws(Failure) {
            try expect("[")
            skipBlanks()
            if next == UInt8(ascii: "]") {
                index += 1
                return
            }
            var count = 0
            while true {
                try value("\(place)[\(count)]", depth: depth + 1)
                count += 1
                if try !goesOn(until: "]") { return }
            }
        }

        /// After a member: a comma, or the end.
        private mutating func goesOn(until end: Character) throws(Failure) -> Bool {
            skipBlanks()
            guard let byte = next, byte == UInt8(ascii: ",") || byte == end.asciiValue else {
                throw Failure(text: "expected `,` or `\(end)`, found \(take())")
            }
            index += 1
            return byte == UInt8(ascii: ",")
        }

        private mutating func string() throws(Failure) -> String {
            index += 1
            let start = index
            while let byte = next, byte != UInt8(ascii: "\"") {
                guard byte >= 32 else {
                    throw Failure(text: "a text goes over the end of its line or has a control character")
                }
                index += byte == UInt8(ascii: "\\") ? 2 : 1
            }
            guard next != nil else { throw Failure(text: "a text has no end") }
            defer { index += 1 }
            return String(decoding: bytes[start..<index], as: UTF8.self)
        }

        private mutating func word() throws(Failure) {
            let start = index
            while let byte = next, !([32, 9, 10, 13] + Array("{}[],:\"".utf8)).contains(byte) { index += 1 }
            let text = String(decoding: bytes[start..<index], as: UTF8.self)
            guard !text.isEmpty else { throw Failure(text: "expected a value, found \(take())") }
            guard ["true", "false", "null"].contains(text) || Double(text) != nil else {
                throw Failure(text: "\(text.prefix(40).debugDescription) is no value; texts stand in quotes")
            }
        }
    }
}
