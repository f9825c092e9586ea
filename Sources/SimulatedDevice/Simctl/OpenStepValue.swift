/// A property list in the old text form that simctl's `listapps` and `appinfo` print.
enum OpenStepValue {
    case string(String)
    case array([OpenStepValue])
    case dictionary([String: OpenStepValue])

    /// The text, with keys in order.
    var text: String { text(indentation: 0) }

    private func text(indentation: Int) -> String {
        let outer = String(repeating: " ", count: indentation)
        let inner = outer + "    "
        switch self {
        case .string(let string): return Self.quoted(string)
        case .array(let values):
            let lines = values.map { inner + $0.text(indentation: indentation + 4) }
            return "(\n" + lines.joined(separator: ",\n") + (lines.isEmpty ? "" : "\n") + outer + ")"
        case .dictionary(let entries):
            let lines = entries.sorted { $0.key < $1.key }.map { key, value in
                // A nested list starts after a wide gap, as Foundation on a Mac writes it.
                let gap = if case .string = value { "" } else { "    " }
                let nested = value.text(indentation: indentation + 4)
                return "\(inner)\(Self.quoted(key)) = \(gap)\(nested);\n"
            }
            return "{\n" + lines.joined() + outer + "}"
        }
    }

    private static func quoted(_ string: String) -> String {
        let plain =
            !string.isEmpty
            && string.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
        if plain { return string }
        var text = "\""
        for unit in string.utf16 {
            switch unit {
            case 0x22: text += "\\\""
            case 0x5C: text += "\\\\"
            case 0x0A: text += "\\n"
            case 0x20..<0x7F: text += String(UnicodeScalar(UInt8(unit)))
            default:
                let digits = String(unit, radix: 16)
                text += "\\U" + String(repeating: "0", count: 4 - digits.count) + digits
            }
        }
        return text + "\""
    }
}
