import BerthCore
import BerthHosts
import BerthSystem

extension HostChannel {
    /// Opens channels by SSH, one connection and one channel a host.
    package static func overSSH(on ssh: SSHEventLoopGroup, allowsProxyCommands: Bool) -> Opener {
        { host in
            let endpoint = try SSHEndpoint(host, allowsProxyCommands: allowsProxyCommands)
            let channel: SSHChannel
            do {
                channel = try await ssh.open(endpoint)
            } catch SSHError.hostKeyTypeUnsupported(let hostName, let port, let algorithm) {
                // A host that was set up anew may have keys of other types: then they are what the operator must see.
                guard let shown = try await ssh.showHostKeys(of: endpoint, until: { _ in true }).first else {
                    throw SSHError.hostKeyTypeUnsupported(host: hostName, port: port, algorithm: algorithm)
                }
                throw SSHError.hostKeyChanged(
                    host: hostName,
                    port: port,
                    pinned: endpoint.pinnedHostKey,
                    offered: shown
                )
            }
            return HostChannel(
                send: { bytes, lane in try await channel.send(bytes, lane: lane == .control ? .control : .bulk) },
                next: {
                    var iterator = channel.inbound.makeAsyncIterator()
                    return await iterator.next()
                },
                endReason: { await channel.waitForEnd().description },
                close: { await channel.close() }
            )
        }
    }
}
