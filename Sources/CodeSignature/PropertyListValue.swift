import Foundation

/// A value of a property list, as entitlements are made of.
package indirect enum PropertyListValue: Sendable, Hashable {
    case string(String)
    case integer(Int64)
    case real(Double)
    case boolean(Bool)
    /// Text of a date as it was written.
    case date(String)
    case data([UInt8])
    case array([PropertyListValue])
    case dictionary([String: PropertyListValue])

    /// Deepest nesting that is read; entitlements have two or three levels.
    static let depthLimit = 64

    package subscript(_ key: String) -> PropertyListValue? {
        guard case .dictionary(let entries) = self else { return nil }
        return entries[key]
    }

    package var text: String? {
        if case .string(let text) = self { text } else { nil }
    }

    /// The texts of an array; nil for anything but an array of texts alone.
    package var texts: [String]? {
        guard case .array(let values) = self else { return nil }
        let texts = values.compactMap(\.text)
        return texts.count == values.count ? texts : nil
    }

    /// In few words, for a sentence.
    package var summary: String {
        switch self {
        case .string(let text): text
        case .integer(let number): "\(number)"
        case .real(let number): "\(number)"
        case .boolean(let flag): flag ? "true" : "false"
        case .date(let text): text
        case .data(let bytes): "\(bytes.count) bytes"
        case .array(let values): values.isEmpty ? "an empty list" : values.map(\.summary).joined(separator: ", ")
        case .dictionary(let entries): "\(entries.count) keys"
        }
    }

    /// An XML property list with sorted keys, one element a line; equal values have equal texts.
    package var xml: String {
        var lines = [
            #"<?xml version="1.0" encoding="UTF-8"?>"#,
            #"<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">"#,
            #"<plist version="1.0">"#,
        ]
        write(into: &lines, indent: "")
        lines.append("</plist>")
        return lines.map { $0 + "\n" }.joined()
    }

    private func write(into lines: inout [String], indent: String) {
        switch self {
        case .string(let text): lines.append("\(indent)<string>\(Self.escaped(text))</string>")
        case .integer(let number): lines.append("\(indent)<integer>\(number)</integer>")
        case .real(let number): lines.append("\(indent)<real>\(number)</real>")
        case .boolean(let flag): lines.append(flag ? "\(indent)<true/>" : "\(indent)<false/>")
        case .date(let text): lines.append("\(indent)<date>\(Self.escaped(text))</date>")
        case .data(let bytes): lines.append("\(indent)<data>\(Data(bytes).base64EncodedString())</data>")
        case .array(let values):
            guard !values.isEmpty else { return lines.append("\(indent)<array/>") }
            lines.append("\(indent)<array>")
            for value in values { value.write(into: &lines, indent: indent + "\t") }
            lines.append("\(indent)</array>")
        case .dictionary(let entries):
            guard !entries.isEmpty else { return lines.append("\(indent)<dict/>") }
            lines.append("\(indent)<dict>")
            for (key, value) in entries.sorted(by: { $0.key < $1.key }) {
                lines.append("\(indent)\t<key>\(Self.escaped(key))</key>")
                value.write(into: &lines, indent: indent + "\t")
            }
            lines.append("\(indent)</dict>")
        }
    }

    private static func escaped(_ text: String) -> String {
        text.replacingOccurrences(of: "&", with: "&amp;").replacingOccurrences(of: "<", with: "&lt;")
            .replacingOccurrences(of: ">", with: "&gt;")
    }
}
