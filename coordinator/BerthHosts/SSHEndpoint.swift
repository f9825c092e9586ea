/// Everything that is needed to reach one host: where it is, who we are, and the key it must show.
package struct SSHEndpoint: Sendable, Hashable {
    /// A name or a literal address.
    package var hostName: String
    package var port: UInt16
    package var user: String
    /// Path of the private key: ed25519 or ECDSA, without a passphrase.
    package var identityFile: String
    /// A key in an agent, which is then used in place of the file.
    package var agent: SSHAgentIdentity?
    /// How to get there.
    package var route: SSHRoute
    /// The key that was accepted at enrolment; any other ends the connection before authentication.
    package var pinnedHostKey: HostKey
    /// What to run; a forced command on the host replaces it.
    package var command: String
    /// For everything until the command has been started, name resolution included.
    package var connectTimeout: Duration
    /// After so much silence a host is asked for a sign of life, by its kernel and by its sshd.
    package var keepaliveInterval: Duration
    /// A host that was not heard from for this long is dead, whatever is between it and us.
    package var deadPeerAfter: Duration
    /// Size of the socket's send buffer in bytes; nil leaves it to the kernel.
    package var sendBufferSize: Int?
    /// Whether compression is offered to the host; one that does not want it is served without.
    package var compresses: Bool

    package init(
        hostName: String,
        port: UInt16 = 22,
        user: String,
        identityFile: String,
        agent: SSHAgentIdentity? = nil,
        route: SSHRoute = .direct,
        pinnedHostKey: HostKey,
        command: String = "berth-agent attach",
        connectTimeout: Duration = .seconds(20),
        keepaliveInterval: Duration = .seconds(3),
        deadPeerAfter: Duration = .seconds(9),
        sendBufferSize: Int? = nil,
        compresses: Bool = false
    ) {
        self.hostName = hostName
        self.port = port
        self.user = user
        self.identityFile = identityFile
        self.agent = agent
        self.route = route
        self.pinnedHostKey = pinnedHostKey
        self.command = command
        self.connectTimeout = connectTimeout
        self.keepaliveInterval = keepaliveInterval
        self.deadPeerAfter = deadPeerAfter
        self.sendBufferSize = sendBufferSize
        self.compresses = compresses
    }

    /// Every sshd that sees a login when this host is connected to.
    var loginAddresses: [String] {
        var addresses = [Self.loginAddress(hostName, port)]
        if case .jump(let hops) = route {
            for address in hops.map({ Self.loginAddress($0.hostName, $0.port) }) where !addresses.contains(address) {
                addresses.append(address)
            }
        }
        return addresses
    }

    static func loginAddress(_ hostName: String, _ port: UInt16) -> String { "\(hostName.lowercased()):\(port)" }
}
