import BerthCore
import BerthHosts
import BerthSystem

extension HostChannel {
    /// Opens channels by SSH, one connection and one channel a host.
    package static func overSSH(on ssh: SSHEventLoopGroup) -> Opener {
        { host in
            let endpoint = SSHEndpoint(
                hostName: host.hostName,
                port: host.port,
                user: host.user,
                identityFile: host.identityFile,
                pinnedHostKey: try HostKey(line: host.hostKey)
            )
            let channel = try await ssh.open(endpoint)
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
