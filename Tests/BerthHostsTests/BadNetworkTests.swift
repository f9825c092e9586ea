import BerthHosts
import BerthTestSupport
import Foundation
import Testing

@Suite("SSH over a bad network", .timeLimit(.minutes(5)))
struct BadNetworkTests {
    @Test("A connection that forwards nothing any more is dead in the time that was set, idle or with bytes under way")
    func blackHole() async throws {
        try await HostsFixture.with(forcedCommand: "exec cat") { fixture in
            let proxy = try WeatherProxy(to: fixture.server.port)
            defer { proxy.stop() }
            var endpoint = try fixture.endpoint
            endpoint.port = proxy.port
            endpoint.keepaliveInterval = .milliseconds(500)
            endpoint.deadPeerAfter = .seconds(2)
            let idle = try await SSHChannel.open(endpoint, on: fixture.loop)
            let busy = try await SSHChannel.open(endpoint, on: fixture.loop)
            proxy.block()
            let sender = Task {
                do throws(SSHError) {
                    while true { try await busy.send([UInt8](repeating: 1, count: 1 << 20), lane: .bulk) }
                } catch {}
            }
            #expect(await idle.waitForEnd().cause == .deadPeer)
            #expect(await busy.waitForEnd().cause == .deadPeer)
            await sender.value
        }
    }

    @Test("Silence longer than the time that was set ends nothing while sshd answers, and no answer is left behind")
    func idleHost() async throws {
        let configuration = ["LogLevel DEBUG1"]
        try await HostsFixture.with(forcedCommand: "exec cat", extraConfiguration: configuration) { fixture in
            var endpoint = try fixture.endpoint
            endpoint.keepaliveInterval = .milliseconds(20)
            endpoint.deadPeerAfter = .milliseconds(600)
            let channel = try await SSHChannel.open(endpoint, on: fixture.loop)
            // Each probe goes out only after the answer to the one before was taken.
            try await eventually("sshd was asked often") {
                fixture.server.log.components(separatedBy: "request env reply 1").count > 60
            }
            #expect(channel.end == nil)
            try await channel.send([1, 2], lane: .control)
            var iterator = channel.inbound.makeAsyncIterator()
            #expect(await receive(2, from: &iterator) == [1, 2])
            await channel.close()
        }
    }

    @Test("A pause of three seconds and a delay of 200 ms end nothing and lose nothing")
    func pauseAndDelay() async throws {
        try await HostsFixture.with(forcedCommand: "exec cat") { fixture in
            let proxy = try WeatherProxy(to: fixture.server.port)
            defer { proxy.stop() }
            var endpoint = try fixture.endpoint
            endpoint.port = proxy.port
            endpoint.keepaliveInterval = .milliseconds(500)
            let channel = try await SSHChannel.open(endpoint, on: fixture.loop)
            let total = 4 << 20
            let sender = Task {
                for _ in 0..<total / 65536 { try await channel.send([UInt8](repeating: 3, count: 65536), lane: .bulk) }
            }
            var iterator = channel.inbound.makeAsyncIterator()
            var received = await receive(1 << 20, from: &iterator).count
            proxy.block()
            try await Task.sleep(for: .seconds(3))
            proxy.clear()
            proxy.delay(milliseconds: 200)
            received += await receive((1 << 20) + 1, from: &iterator).count
            proxy.clear()
            received += await receive(total - received, from: &iterator).count
            try await sender.value
            #expect(received == total)
            #expect(channel.end == nil)
            await channel.close()
        }
    }
}
