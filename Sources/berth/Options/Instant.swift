import Foundation

/// An instant as a person writes it.
enum Instant {
    /// What is accepted, for messages.
    static let accepted = "2026-01-31, 2026-01-31T12:00:00Z, or a time ago such as 30m, 24h or 7d"

    /// Milliseconds since 1970 of a day in UTC (its beginning), an instant in UTC, or a time before `now`.
    /// - Returns: nil for anything else.
    static func milliseconds(_ text: String, now: Int64) -> Int64? {
        if let unit = text.last, let length: Int64 = ["m": 60, "h": 3600, "d": 86_400][unit],
            let count = Int64(text.dropLast()),
            (0...1_000_000).contains(count)
        {
            return now - count * length * 1000
        }
        let full = text.utf8.count == 10 ? "\(text)T00:00:00Z" : text
        guard let match = full.wholeMatch(of: /(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)Z/) else { return nil }
        let numbers = [match.1, match.2, match.3, match.4, match.5, match.6].compactMap { Int($0) }
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        let parts = DateComponents(
            calendar: calendar,
            year: numbers[0],
            month: numbers[1],
            day: numbers[2],
            hour: numbers[3],
            minute: numbers[4],
            second: numbers[5]
        )
        guard parts.isValidDate, let date = parts.date else { return nil }
        return Int64(date.timeIntervalSince1970) * 1000
    }
}
