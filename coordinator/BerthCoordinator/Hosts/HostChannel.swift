import BerthCore

/// The byte stream to `berth-agent attach` on a host, whatever carries it.
package struct HostChannel: Sendable {
    /// What may overtake what.
    package enum Lane: Sendable {
        case control
        case bulk
    }

    /// Sends one whole message; suspends while too much is queued.
    package let send: @Sendable (_ bytes: [UInt8], _ lane: Lane) async throws -> Void
    /// What arrives next; nil once the channel has ended. One caller at a time.
    package let next: @Sendable () async throws -> [UInt8]?
    /// Why it ended, in words for an operator.
    package let endReason: @Sendable () async -> String
    package let close: @Sendable () async -> Void

    package init(
        send: @escaping @Sendable (_ bytes: [UInt8], _ lane: Lane) async throws -> Void,
        next: @escaping @Sendable () async throws -> [UInt8]?,
        endReason: @escaping @Sendable () async -> String,
        close: @escaping @Sendable () async -> Void
    ) {
        self.send = send
        self.next = next
        self.endReason = endReason
        self.close = close
    }

    /// Opens a channel to a host.
    package typealias Opener = @Sendable (HostRecord) async throws -> HostChannel
}
