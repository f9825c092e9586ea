/// Bounds on what one channel keeps in memory, in bytes.
package struct SSHChannelLimits: Sendable, Hashable {
    /// Received and not yet taken by the consumer. libssh2 holds at most one channel window (2 MiB) beside it.
    package var unreadBytes: Int
    /// Queued in the control lane before `send` suspends.
    package var controlQueueBytes: Int
    /// Queued in the bulk lane before `send` suspends.
    package var bulkQueueBytes: Int

    /// `unreadBytes` below 128 KiB is raised to it, since one read may bring 64 KiB.
    package init(
        unreadBytes: Int = 4 << 20,
        controlQueueBytes: Int = 1 << 20,
        bulkQueueBytes: Int = 1 << 20
    ) {
        self.unreadBytes = max(unreadBytes, 128 << 10)
        self.controlQueueBytes = controlQueueBytes
        self.bulkQueueBytes = bulkQueueBytes
    }
}
