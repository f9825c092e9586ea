import BerthHosts
import BerthTestSupport
import Foundation
import Testing

@Suite("SSH logins of many hosts", .timeLimit(.minutes(5)))
struct LoginPacingTests {
    /// What a stock sshd_config says.
    private let stock = ["MaxStartups 10:30:100"]

    @Test("80 hosts at one stock sshd all get in, none is dropped, and the threads share them")
    func pacedLogins() async throws {
        try await HostsFixture.with(forcedCommand: "exec cat", extraConfiguration: stock) { fixture in
            let ssh = SSHEventLoopGroup(count: 4)
            try ssh.start()
            let endpoint = try fixture.endpoint
            let channels = try await withThrowingTaskGroup { group in
                for _ in 0..<80 { group.addTask { try await ssh.open(endpoint) } }
                return try await group.reduce(into: [SSHChannel]()) { $0.append($1) }
            }
            #expect(channels.count == 80)
            #expect(ssh.waitingLogins == 0)
            #expect(ssh.connectionCounts.reduce(0, +) == 80)
            #expect(ssh.connectionCounts.allSatisfy { (15...25).contains($0) })
            for channel in channels {
                try await channel.send([1, 2, 3], lane: .control)
                var iterator = channel.inbound.makeAsyncIterator()
                #expect(await receive(3, from: &iterator) == [1, 2, 3])
            }
            await ssh.stop()
            #expect(channels.allSatisfy { $0.end?.cause == .closedByUs })
            #expect(!fixture.server.log.contains("MaxStartups"))
        }
    }

    @Test("The same sshd drops logins that are not paced")
    func unpacedLogins() async throws {
        try await HostsFixture.with(forcedCommand: "exec cat", extraConfiguration: ["MaxStartups 2:100:3"]) { fixture in
            let ssh = SSHEventLoopGroup(count: 1, logins: LoginLimits(perAddress: 80, total: 80))
            try ssh.start()
            let endpoint = try fixture.endpoint
            let refused = await withTaskGroup { group in
                for _ in 0..<20 {
                    group.addTask {
                        do throws(SSHError) {
                            await (try ssh.open(endpoint)).close()
                            return false
                        } catch {
                            guard case .disconnected = error else { return false }
                            return error.description.contains("MaxStartups")
                        }
                    }
                }
                return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(refused > 0)
            #expect(fixture.server.log.contains("past MaxStartups"))
            await ssh.stop()
        }
    }

    @Test("A login that waits can be cancelled, one that fails makes room, and another address does not wait")
    func waiting() async throws {
        try await HostsFixture.with(forcedCommand: "exec cat") { fixture in
            let ssh = SSHEventLoopGroup(count: 1, logins: LoginLimits(perAddress: 1, total: 2))
            try ssh.start()
            // The connection is accepted by the kernel, and nobody answers: the login stays open until it is cancelled.
            let silent = try LoopbackListener()
            let (host, port) = ("127.0.0.1", silent.port)
            let first = Task { try await ssh.fetchHostKey(hostName: host, port: port, timeout: .seconds(120)) }
            let second = Task { try await ssh.fetchHostKey(hostName: host, port: port, timeout: .seconds(120)) }
            try await eventually("the second waits") { ssh.waitingLogins == 1 }
            let third = Task {
                try await ssh.fetchHostKey(hostName: host, port: port, timeout: .milliseconds(10))
            }
            try await eventually("the third waits too") { ssh.waitingLogins == 2 }
            let channel = try await ssh.open(try fixture.endpoint)
            second.cancel()
            await #expect(throws: SSHError.cancelled) { try await second.value }
            #expect(ssh.waitingLogins == 1)
            first.cancel()
            await #expect(throws: SSHError.cancelled) { try await first.value }
            let limit = Duration.milliseconds(10)
            await #expect(
                throws: SSHError.timedOut(host: host, port: port, stage: .exchangingKeys, limit: limit)
            ) { try await third.value }
            await channel.close()
            await ssh.stop()
        }
    }

    @Test("Messages that find the thread awake cost no wake-up")
    func wakeUps() async throws {
        try await HostsFixture.with(forcedCommand: "exec cat") { fixture in
            let channel = try await SSHChannel.open(try fixture.endpoint, on: fixture.loop)
            let before = fixture.loop.wakeUpCount
            let count = 20_000
            for _ in 0..<count { try await channel.send([7], lane: .control) }
            var iterator = channel.inbound.makeAsyncIterator()
            #expect(await receive(count, from: &iterator).count == count)
            #expect(fixture.loop.wakeUpCount - before < UInt64(count / 2))
        }
    }
}
