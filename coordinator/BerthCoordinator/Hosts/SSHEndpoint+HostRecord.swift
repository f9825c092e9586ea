import BerthCore
import BerthHosts

extension SSHEndpoint {
    /// The endpoint that a host's record describes, with its route checked.
    ///
    /// Records are shared by all coordinators on a database, and outlive a start with other options: each coordinator
    /// runs the proxy commands of none but those that it was started for.
    /// - Throws: `SSHError.hostKeyMalformed`, `.routeInvalid`, `.hostKeyTypeUnsupported`
    init(_ host: HostRecord, allowsProxyCommands: Bool) throws(SSHError) {
        guard host.proxyCommand == nil || allowsProxyCommands else {
            throw .routeInvalid(
                reason: "this coordinator runs no proxy commands; start it with --allow-proxy-commands, or use jump "
                    + "hosts"
            )
        }
        self.init(
            hostName: host.hostName,
            port: host.port,
            user: host.user,
            identityFile: host.identityFile,
            agent: host.agentKey.map { SSHAgentIdentity(socket: $0.socket, fingerprint: $0.fingerprint) },
            route: try Self.route(of: host),
            pinnedHostKey: try HostKey(line: host.hostKey),
            compresses: host.compression ?? false
        )
        try checkRoute()
    }

    private static func route(of host: HostRecord) throws(SSHError) -> SSHRoute {
        switch (host.proxyCommand, host.jump) {
        case (nil, nil): return .direct
        case (let command?, nil): return .proxyCommand(command)
        case (nil, let hops?):
            var jumps: [SSHJump] = []
            for hop in hops {
                jumps.append(
                    SSHJump(
                        user: hop.user,
                        hostName: hop.hostName,
                        port: hop.port,
                        pinnedHostKey: try HostKey(line: hop.hostKey)
                    )
                )
            }
            return .jump(jumps)
        case (_?, _?): throw .routeInvalid(reason: "it has a proxy command and jump hosts; give one of them")
        }
    }
}
