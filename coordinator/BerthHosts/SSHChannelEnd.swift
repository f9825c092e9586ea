/// Why a channel ended.
package struct SSHChannelEnd: Sendable, Hashable, CustomStringConvertible {
    /// How the host's command ended.
    package enum Exit: Sendable, Hashable {
        /// Its exit status. SSH servers may leave the status out; that reads as 0.
        case status(Int32)
        /// The signal's name without `SIG`.
        case signal(String)
    }

    package enum Cause: Sendable, Hashable {
        /// `close()` was called, the channel was dropped, or its event loop was stopped.
        case closedByUs
        /// The command closed its output; nil when it had not exited within two seconds after that.
        case endOfStream(Exit?)
        /// Neither the host's TCP nor its sshd was heard from for `SSHEndpoint.deadPeerAfter`.
        case deadPeer
        /// The connection broke or was closed by the host, in the system's words.
        case connectionLost(String)
        /// libssh2 gave up, with its error number.
        case protocolFailure(code: Int32, message: String)
    }

    package let cause: Cause
    /// The first KiB of what the command wrote to its standard error.
    package let errorOutput: [UInt8]

    package init(cause: Cause, errorOutput: [UInt8]) {
        self.cause = cause
        self.errorOutput = errorOutput
    }

    package var description: String {
        let reason =
            switch cause {
            case .closedByUs: "closed by the coordinator"
            case .endOfStream(.status(let status)?): "the command ended with exit status \(status)"
            case .endOfStream(.signal(let name)?): "the command was ended by signal \(name)"
            case .endOfStream(nil): "the command closed its output and did not exit"
            case .deadPeer: "the host no longer answers"
            case .connectionLost(let reason): "the connection was lost: \(reason)"
            case .protocolFailure(let code, let message): "the SSH protocol failed: \(message) (libssh2 error \(code))"
            }
        guard !errorOutput.isEmpty else { return reason }
        return reason + "; it wrote: " + String(decoding: errorOutput, as: UTF8.self)
    }
}
