/// What keeps a channel from opening, or ended one; each description tells the operator what to do.
package enum SSHError: Error, Sendable, Hashable, CustomStringConvertible {
    /// Where in the opening something happened, for messages.
    package enum Stage: String, Sendable, Hashable {
        case resolving = "resolving its name"
        case connecting = "connecting"
        case exchangingKeys = "exchanging keys"
        case authenticating = "authenticating"
        case openingChannel = "opening the channel"
        case startingCommand = "starting the command"
    }

    case nameNotResolved(host: String, reason: String)
    case unreachable(host: String, port: UInt16, reason: String)
    case timedOut(host: String, port: UInt16, stage: Stage, limit: Duration)
    /// The host ended the connection while it was being set up.
    case disconnected(host: String, port: UInt16, stage: Stage, reason: String)
    case hostKeyChanged(host: String, port: UInt16, pinned: HostKey, offered: HostKey)
    /// A type that libssh2 cannot verify, or one that the host does not offer.
    case hostKeyTypeUnsupported(host: String, port: UInt16, algorithm: String)
    case hostKeyMalformed(reason: String)
    case keyUnreadable(path: String, reason: String)
    case keyEncrypted(path: String)
    case keyTypeUnsupported(path: String, type: String)
    case authenticationRefused(host: String, port: UInt16, user: String, identityFile: String, fingerprint: String)
    case agentUnusable(socket: String, reason: String)
    /// The agent works and holds other keys.
    case agentKeyMissing(socket: String, fingerprint: String, held: [String])
    /// The proxy command or the jump host's ssh ended the connection; with the end of what it wrote.
    case proxyFailed(host: String, port: UInt16, reason: String, errorOutput: String)
    /// The record of the way to a host makes no sense.
    case routeInvalid(reason: String)
    case channelRefused(host: String, port: UInt16, reason: String)
    case protocolFailure(host: String, port: UInt16, stage: Stage, code: Int32, message: String)
    /// The channel has ended; nothing can be sent.
    case closed(SSHChannelEnd)
    /// `finishSending()` was called before.
    case sendingFinished
    /// The calling task was cancelled.
    case cancelled
    /// The event loop is not running.
    case loopStopped
    /// The system refused what a new event loop needs.
    case loopNotStarted(reason: String)

    package var description: String {
        switch self {
        case .nameNotResolved(let host, let reason):
            "cannot resolve the name of host \(host): \(reason); check the inventory and the resolver"
        case .unreachable(let host, let port, let reason):
            "cannot reach \(host) port \(port): \(reason); check that the host runs, sshd listens there and no "
                + "firewall is between"
        case .timedOut(let host, let port, let stage, let limit):
            "\(host) port \(port) did not finish \(stage.rawValue) within \(limit)"
        case .disconnected(let host, let port, let stage, let reason):
            "\(host) port \(port) ended the connection while \(stage.rawValue): \(reason); sshd's log on the host "
                + "says why (often MaxStartups)"
        case .hostKeyChanged(let host, let port, let pinned, let offered):
            "the host key of \(host) port \(port) is not the enrolled one: enrolled \(pinned.algorithm) "
                + "\(pinned.fingerprint), offered \(offered.algorithm) \(offered.fingerprint); nothing was sent. Either "
                + "the host was set up anew or somebody answers in its place: verify the new fingerprint with the "
                + "host's owner, then accept it with `berth host trust`"
        case .hostKeyTypeUnsupported(let host, let port, let algorithm):
            "\(host) port \(port) and we have no host key of type \(algorithm) in common; enrol an ssh-ed25519 or "
                + "ecdsa-sha2-nistp256 key of the host (libssh2 1.10 verifies RSA with SHA-1 only)"
        case .hostKeyMalformed(let reason):
            "not a host key: \(reason); give it as in known_hosts or a .pub file: ssh-ed25519 AAAA…"
        case .keyUnreadable(let path, let reason):
            "cannot use the private key \(path): \(reason)"
        case .keyEncrypted(let path):
            "the private key \(path) has a passphrase, which a daemon cannot type; load it into an agent "
                + "(ssh-add \(path)) and name its fingerprint in place of the file"
        case .keyTypeUnsupported(let path, let type):
            "the private key \(path) is of type \(type); only ed25519 and ECDSA keys serve (libssh2 1.10 signs RSA "
                + "with SHA-1 only, which sshd refuses): make one with ssh-keygen -t ed25519"
        case .authenticationRefused(let host, let port, let user, let identityFile, let fingerprint):
            "\(host) port \(port) does not let user \(user) in with key \(identityFile) (\(fingerprint)); check the "
                + "user's authorized_keys on the host"
        case .agentUnusable(let socket, let reason):
            "the ssh-agent at \(socket) cannot be used: \(reason); start one there that the coordinator's user may use"
        case .agentKeyMissing(let socket, let fingerprint, let held):
            "the ssh-agent at \(socket) does not hold the key \(fingerprint); it holds "
                + (held.isEmpty ? "none" : held.joined(separator: ", ")) + ": load the key with ssh-add"
        case .proxyFailed(let host, let port, let reason, let errorOutput):
            "the way to \(host) port \(port) failed: \(reason)"
                + (errorOutput.isEmpty ? "; its command wrote nothing" : "; its command wrote: \(errorOutput)")
        case .routeInvalid(let reason):
            "the way to the host is not usable: \(reason)"
        case .channelRefused(let host, let port, let reason):
            "\(host) port \(port) refused the channel or its command: \(reason)"
        case .protocolFailure(let host, let port, let stage, let code, let message):
            "SSH with \(host) port \(port) failed while \(stage.rawValue): \(message) (libssh2 error \(code))"
        case .closed(let end):
            "the channel has ended: \(end)"
        case .sendingFinished:
            "the sending side of the channel is already finished"
        case .cancelled:
            "cancelled"
        case .loopStopped:
            "the SSH event loop is not running"
        case .loopNotStarted(let reason):
            "cannot start the SSH event loop: \(reason)"
        }
    }
}
