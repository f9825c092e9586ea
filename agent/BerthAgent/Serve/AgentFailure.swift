/// Why an agent or `attach` ends, with the exit status that says so.
package struct AgentFailure: Error, Hashable, CustomStringConvertible {
    /// Exit statuses of `berth-agent`; part of the interface (agent/README.md).
    package enum Status: Int32, Sendable {
        /// The command line is wrong.
        case usage = 64
        /// A file of the state folder is damaged; it is kept as it is.
        case damagedState = 65
        /// The device tool is not there or does not work.
        case toolUnavailable = 69
        /// The executor no longer answers; a restart cleans up.
        case executorStuck = 70
        /// Another process holds the device.
        case deviceHeld = 73
        /// A file or stream cannot be read or written.
        case disk = 74
        /// A phone is not proved clean, or its agent did not say so in time.
        case notClean = 75
        /// The other side of `attach` speaks no version or preamble that is known here.
        case protocolMismatch = 76
    }

    package let status: Status
    package let description: String

    package init(_ status: Status, _ description: String) {
        self.status = status
        self.description = description
    }
}
