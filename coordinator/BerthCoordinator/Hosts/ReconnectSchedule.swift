/// When a host is tried again: at once after a connection that had worked, else after a random part of a bound that
/// doubles with each failure. A host that was connected for a while begins anew.
package struct ReconnectSchedule: Sendable {
    /// The bound of the first pause.
    package var first = Duration.milliseconds(250)
    /// The bound of all pauses.
    package var longest = Duration.seconds(30)
    /// A connection that worked for this long makes earlier failures forgotten.
    package var stableAfter = Duration.seconds(10)

    /// Failures since the last connection that was stable.
    package private(set) var failures = 0

    package init() {}

    /// The pause after a connection ended or was not made.
    /// - Parameters:
    ///   - worked: how long the host was connected, counted from its greeting; nil if it never was.
    ///   - chance: from 0 to 1, where in the range the pause lies; the whole range (full jitter) keeps hosts that
    ///     failed in one instant from coming back in one.
    /// - Returns: the pause.
    package mutating func pause(afterConnectionOf worked: Duration?, chance: Double) -> Duration {
        if let worked, worked >= stableAfter { failures = 0 }
        defer { failures += 1 }
        if worked != nil, failures == 0 { return .zero }
        return bound * chance
    }

    private var bound: Duration {
        var bound = first
        for _ in 0..<min(failures, 32) where bound < longest { bound *= 2 }
        return min(bound, longest)
    }
}
