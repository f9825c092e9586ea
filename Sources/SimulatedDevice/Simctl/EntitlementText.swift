import Foundation

/// Entitlements as codesign prints them.
enum EntitlementText {
    /// A property list on one line.
    static func xml(_ entitlements: [String: Any]) -> String {
        #"<?xml version="1.0" encoding="UTF-8"?><!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "#
            + #""https://www.apple.com/DTDs/PropertyList-1.0.dtd"><plist version="1.0">"#
            + element(entitlements) + "</plist>"
    }

    private static func element(_ value: Any) -> String {
        switch value {
        case let dictionary as [String: Any]:
            let entries = dictionary.sorted { $0.key < $1.key }
            return "<dict>" + entries.map { "<key>\(escaped($0.key))</key>\(element($0.value))" }.joined() + "</dict>"
        case let array as [Any]: return "<array>" + array.map(element).joined() + "</array>"
        case let string as String: return "<string>\(escaped(string))</string>"
        case let data as Data: return "<data>\(data.base64EncodedString())</data>"
        case let number as NSNumber:
            if String(cString: number.objCType) == "c" { return number.boolValue ? "<true/>" : "<false/>" }
            return "<integer>\(number)</integer>"
        default: return "<string>\(escaped("\(value)"))</string>"
        }
    }

    private static func escaped(_ text: String) -> String {
        text.replacingOccurrences(of: "&", with: "&amp;").replacingOccurrences(of: "<", with: "&lt;")
            .replacingOccurrences(of: ">", with: "&gt;")
    }

    /// The indented outline that is no property list.
    static func outline(_ entitlements: [String: Any]) -> String {
        lines(entitlements).map { $0 + "\n" }.joined()
    }

    private static func lines(_ value: Any) -> [String] {
        switch value {
        case let dictionary as [String: Any]:
            return ["[Dict]"]
                + dictionary.sorted { $0.key < $1.key }.flatMap { key, value in
                    ["\t[Key] \(key)", "\t[Value]"] + lines(value).map { "\t\t" + $0 }
                }
        case let array as [Any]: return ["[Array]"] + array.flatMap(lines).map { "\t" + $0 }
        case let string as String: return ["[String] \(string)"]
        case let number as NSNumber:
            if String(cString: number.objCType) == "c" { return ["[Bool] \(number.boolValue)"] }
            return ["[Int] \(number)"]
        default: return ["[Data] \(value)"]
        }
    }
}
