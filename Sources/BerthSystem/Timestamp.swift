import Foundation

/// A wall-clock instant in milliseconds since 1970, for display and storage, never for ordering.
package struct Timestamp: Sendable, Hashable, Comparable, Codable {
    /// Milliseconds since 1970-01-01 UTC.
    package let milliseconds: Int64

    package init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

    /// The host's clock, by way of `WallClock`.
    package static func now() -> Timestamp {
        Timestamp(milliseconds: WallClock.milliseconds)
    }

    package init(from decoder: any Decoder) throws {
        milliseconds = try decoder.singleValueContainer().decode(Int64.self)
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(milliseconds)
    }

    package static func < (left: Timestamp, right: Timestamp) -> Bool { left.milliseconds < right.milliseconds }

    /// `2026-01-31T12:00:00.123Z`
    package var text: String {
        var seconds = time_t(milliseconds / 1000)
        var parts = tm()
        gmtime_r(&seconds, &parts)
        func digits(_ number: Int32, _ width: Int = 2) -> String {
            let text = "\(number)"
            return String(repeating: "0", count: max(0, width - text.utf8.count)) + text
        }
        let day = "\(digits(parts.tm_year + 1900, 4))-\(digits(parts.tm_mon + 1))-\(digits(parts.tm_mday))"
        let time = "\(digits(parts.tm_hour)):\(digits(parts.tm_min)):\(digits(parts.tm_sec))"
        return "\(day)T\(time).\(digits(Int32(milliseconds % 1000), 3))Z"
    }
}
