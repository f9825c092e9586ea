import BerthCore
import BerthHosts
import BerthSystem

extension HostChannel {
    /// Opens channels by SSH, one connection and one channel a host.
    package static func overSSH(on ssh: SSHEventLoopGroup) -> Opener {
        { host in
            let channel = try await ssh.open(try SSHEndpoint(host))
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
