/// One line of a device's own log: somebody touched it.
package struct Touch: Sendable, Hashable {
    package enum Event: String, Sendable {
        /// A use begins.
        case begin
        /// A use ends. Without it the using process was killed.
        case end
        /// A touch that is over at once.
        case touch
        /// The device found itself in use already when a use began.
        case overlap
    }

    /// CLOCK_MONOTONIC, in nanoseconds.
    package let at: Int64
    /// The wall clock, in milliseconds since 1970.
    package let wall: Int64
    package let process: Int32
    package let event: Event
    package let verb: String
    package let run: String
    package let attempt: String
    package let epoch: UInt64
    /// When the agent made up its mind to touch the device, by CLOCK_MONOTONIC in nanoseconds. A host that stands still
    /// can do so between this moment and the touch.
    package let decided: Int64

    /// Whether the device is only put away by it, as has to be done however an attempt ended.
    package var isPuttingAway: Bool { verb == "end" || verb == "settle" }

    /// The agent's word that the attempt's result is on its disk, and no touch.
    package var isKept: Bool { verb == "kept" }

    package init(
        at: Int64,
        wall: Int64,
        process: Int32,
        event: Event,
        verb: String,
        run: String,
        attempt: String,
        epoch: UInt64,
        decided: Int64
    ) {
        self.at = at
        self.wall = wall
        self.process = process
        self.event = event
        self.verb = verb
        self.run = run
        self.attempt = attempt
        self.epoch = epoch
        self.decided = decided
    }

    /// Reads a line of a log; nil when it is none.
    package init?(_ line: Substring) {
        // Filled up with spaces at its end.
        let parts = line.split(separator: " ")
        guard parts.count == 9, let at = Int64(parts[0]), let wall = Int64(parts[1]), let process = Int32(parts[2]),
            let event = Event(rawValue: String(parts[3])), let epoch = UInt64(parts[7]),
            let decided = Int64(parts[8])
        else { return nil }
        self.init(
            at: at,
            wall: wall,
            process: process,
            event: event,
            verb: String(parts[4]),
            run: String(parts[5]),
            attempt: String(parts[6]),
            epoch: epoch,
            decided: decided
        )
    }
}
