import Foundation

/// Structured log lines on standard error, written whole and unbuffered.
///
/// Levels: `error` for what an operator must act on, `notice` for transitions, `info` for the course of work,
/// `debug` for developers. The threshold comes from the environment variable `BERTH_LOG` (default `info`).
package struct Log: Sendable {
    /// Severity, rising.
    package enum Level: Int, Sendable, CaseIterable {
        case debug
        case info
        case notice
        case error
    }

    private static let threshold: Level = {
        let wanted = ProcessInfo.processInfo.environment["BERTH_LOG"] ?? "info"
        return Level.allCases.first { "\($0)" == wanted } ?? .info
    }()

    private let component: String

    /// - Parameter component: who speaks, such as `agent` or `store`.
    package init(component: String) {
        self.component = component
    }

    package func debug(_ message: String, _ fields: KeyValuePairs<String, String> = [:]) {
        write(.debug, message, fields)
    }
    package func info(_ message: String, _ fields: KeyValuePairs<String, String> = [:]) {
        write(.info, message, fields)
    }
    package func notice(_ message: String, _ fields: KeyValuePairs<String, String> = [:]) {
        write(.notice, message, fields)
    }
    package func error(_ message: String, _ fields: KeyValuePairs<String, String> = [:]) {
        write(.error, message, fields)
    }

    /// Letters, digits and signs that need no quotes.
    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "-")...UInt8(ascii: ":"), UInt8(ascii: "@"): true
        case UInt8(ascii: "_"), UInt8(ascii: "+"), UInt8(ascii: "="): true
        default: false
        }
    }

    private func write(_ level: Level, _ message: String, _ fields: KeyValuePairs<String, String>) {
        guard level.rawValue >= Self.threshold.rawValue else { return }
        var line = "\(Timestamp.now().text) \(level) \(component): \(message)"
        for (key, value) in fields {
            let plain = !value.isEmpty && value.utf8.allSatisfy(Self.isPlain)
            line += plain ? " \(key)=\(value)" : " \(key)=\(value.debugDescription)"
        }
        StandardStreams.writeError(line + "\n")
    }
}
