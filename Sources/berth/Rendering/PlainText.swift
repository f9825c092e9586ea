import BerthCore
import BerthSystem

/// Small pieces of text that people read.
enum PlainText {
    /// Text of unknown origin with its control characters made visible, so that it cannot command a terminal.
    static func safe(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isControl) else { return text }
        return text.unicodeScalars.map { isControl($0) ? $0.escaped(asASCII: true) : String($0) }.joined()
    }

    /// `2026-01-31 12:00:00Z`
    static func time(_ milliseconds: Int64) -> String {
        let text = Timestamp(milliseconds: milliseconds).text
        return "\(text.prefix(10)) \(text.dropFirst(11).prefix(8))Z"
    }

    /// `850 ms`, `12.3 s`, `4 min 5 s`
    static func duration(_ milliseconds: Int64) -> String {
        switch milliseconds {
        case ..<1000: "\(milliseconds) ms"
        case ..<60_000: "\(milliseconds / 1000).\(milliseconds % 1000 / 100) s"
        default: "\(milliseconds / 60_000) min \(milliseconds % 60_000 / 1000) s"
        }
    }

    /// `512 B`, `1.4 MB`
    static func size(_ bytes: Int64) -> String {
        var value = Double(bytes)
        for unit in ["B", "kB", "MB", "GB"] {
            if value < 1000 || unit == "GB" {
                let tenths = Int64((value * 10).rounded())
                return unit == "B" ? "\(bytes) B" : "\(tenths / 10).\(tenths % 10) \(unit)"
            }
            value /= 1000
        }
        return "\(bytes) B"
    }

    /// The builds of a path by name, such as `legacy → correct`.
    static func path(_ names: [String]) -> String { names.joined(separator: " → ") }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.generalCategory == .control || scalar.properties.generalCategory == .format
    }
}

extension PlainText {
    /// Named values below one another.
    static func facts(_ facts: [(String, String)], indent: Int = 0) -> String {
        let width = facts.map(\.0.count).max() ?? 0
        let margin = String(repeating: " ", count: indent)
        return facts.map { name, value in
            "\(margin)\(name)\(String(repeating: " ", count: width - name.count))  \(safe(value))\n"
        }.joined()
    }
}
