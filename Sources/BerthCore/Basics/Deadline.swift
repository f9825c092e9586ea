/// A point in time ahead, as a person writes it: an instant, or a time from now.
package enum Deadline: Sendable, Hashable {
    /// Milliseconds since 1970.
    case instant(Int64)
    /// Milliseconds from when it is asked for.
    case after(Int64)

    /// What is accepted, for messages.
    package static let accepted = "a time from now such as 90m, 4h or 2d, or an instant such as 2026-01-31T12:00:00Z"
    /// The longest time ahead, in days.
    private static let dayLimit: Int64 = 3650

    /// - Returns: nil unless it is a positive number with `s`, `m`, `h` or `d`, or an instant in UTC.
    package init?(_ text: String) {
        let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3600, "d": 86_400]
        if let unit = text.last.flatMap({ units[$0] }) {
            let digits = text.dropLast()
            guard digits.allSatisfy(\.isASCIIDigit), let count = Int64(digits), count > 0,
                count <= Self.dayLimit * 86_400 / unit
            else { return nil }
            self = .after(count * unit * 1000)
            return
        }
        guard let instant = Self.instant(text) else { return nil }
        self = .instant(instant)
    }

    /// The instant that it means, in milliseconds since 1970.
    package func milliseconds(now: Int64) -> Int64 {
        switch self {
        case .instant(let instant): instant
        case .after(let length): now + length
        }
    }

    /// `2026-01-31T12:00:00Z`
    private static func instant(_ text: String) -> Int64? {
        guard let match = text.wholeMatch(of: /(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d)(?::(\d\d))?Z/),
            let year = Int64(match.1), let month = Int64(match.2), let day = Int64(match.3), let hour = Int64(match.4),
            let minute = Int64(match.5), let second = Int64(match.6 ?? "0"), year >= 1970, (1...12).contains(month),
            (1...length(of: month, year)).contains(day), hour < 24, minute < 60, second < 60
        else { return nil }
        var days = day - 1
        for earlier in 1..<month { days += length(of: earlier, year) }
        // Leap days of all years before this one, less those before 1970.
        let before = year - 1
        days += (year - 1970) * 365 + before / 4 - before / 100 + before / 400 - (1969 / 4 - 1969 / 100 + 1969 / 400)
        return (((days * 24 + hour) * 60 + minute) * 60 + second) * 1000
    }

    private static func length(of month: Int64, _ year: Int64) -> Int64 {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}

extension Character {
    fileprivate var isASCIIDigit: Bool { isASCII && isNumber }
}
