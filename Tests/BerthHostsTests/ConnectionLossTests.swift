import BerthHosts
import BerthSystem
import BerthTestSupport
import Foundation
import Testing

@Suite("SSH connection loss", .timeLimit(.minutes(5)))
struct ConnectionLossTests {
    @Test("A killed connection ends the channel with its cause; after a restart of sshd it opens again")
    func killedConnection() async throws {
        try await HostsFixture.with(forcedCommand: "exec sleep 60") { fixture in
            let endpoint = try fixture.endpoint
            let channel = try await SSHChannel.open(endpoint, on: fixture.loop)
            // Somebody waits for bytes and somebody for room when it happens.
            async let rest: [UInt8] = channel.inbound.reduce(into: []) { $0 += $1 }
            async let sendError: SSHError? = {
                do throws(SSHError) {
                    while true { try await channel.send([UInt8](repeating: 1, count: 1 << 20), lane: .bulk) }
                } catch {
                    return error
                }
            }()
            try await channel.untilSendingStalls()
            let processes = fixture.server.connectionProcesses
            #expect(processes.count == 1)
            for process in processes { kill(process, SIGKILL) }
            let end = await channel.waitForEnd()
            guard case .connectionLost = end.cause else {
                Issue.record("ended with \(end)")
                return
            }
            #expect(await rest.isEmpty)
            #expect(await sendError == .closed(end))

            await fixture.server.killListener()
            let error = await #expect(throws: SSHError.self) { try await SSHChannel.open(endpoint, on: fixture.loop) }
            guard case .unreachable("127.0.0.1", endpoint.port, _)? = error else {
                Issue.record("without a listener: \(String(describing: error))")
                return
            }
            try await fixture.server.start()
            let again = try await SSHChannel.open(endpoint, on: fixture.loop)
            await again.close()
            #expect(again.end?.cause == .closedByUs)
        }
    }

    @Test("A host that stops answering is a dead peer after the time that was set")
    func deadPeer() async throws {
        try await HostsFixture.with(forcedCommand: "exec cat") { fixture in
            var endpoint = try fixture.endpoint
            endpoint.deadPeerAfter = .seconds(2)
            let channel = try await SSHChannel.open(endpoint, on: fixture.loop)
            let processes = fixture.server.connectionProcesses
            for process in processes { kill(process, SIGSTOP) }
            defer { for process in processes { kill(process, SIGKILL) } }
            let sender = Task {
                do throws(SSHError) {
                    while true { try await channel.send([UInt8](repeating: 1, count: 1 << 20), lane: .bulk) }
                } catch {}
            }
            #expect(await channel.waitForEnd().cause == .deadPeer)
            await sender.value
        }
    }

    @Test("A port that accepts and says nothing is given up in time, and opening can be cancelled")
    func silentPort() async throws {
        let directory = try TemporaryDirectory()
        let server = try await TestSSHServer(directory: directory.path, forcedCommand: "cat")
        // A listener whose queue takes the connection, and nobody who accepts it.
        let silent = FileDescriptor(adopting: socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = server.port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(silent.number, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        try #require(bound == 0 && listen(silent.number, 8) == 0)
        let loop = SSHEventLoop()
        try loop.start()
        let limit = Duration.milliseconds(300)
        let expected = SSHError.timedOut(host: "127.0.0.1", port: server.port, stage: .exchangingKeys, limit: limit)
        await #expect(throws: expected) {
            try await SSHChannel.fetchHostKey(hostName: "127.0.0.1", port: server.port, timeout: limit, on: loop)
        }
        let opening = Task {
            try await SSHChannel.fetchHostKey(hostName: "127.0.0.1", port: server.port, on: loop)
        }
        opening.cancel()
        await #expect(throws: SSHError.cancelled) { try await opening.value }
        await loop.stop()
        await #expect(throws: SSHError.loopStopped) {
            try await SSHChannel.fetchHostKey(hostName: "127.0.0.1", port: server.port, on: loop)
        }
    }

    @Test("Stopping the loop ends its channels; a dropped channel ends its command")
    func stoppedLoop() async throws {
        try await HostsFixture.with(forcedCommand: "exec cat") { fixture in
            let channel = try await SSHChannel.open(try fixture.endpoint, on: fixture.loop)
            do {
                let dropped = try await SSHChannel.open(try fixture.endpoint, on: fixture.loop)
                try await dropped.send([1], lane: .control)
                #expect(fixture.server.connectionProcesses.count == 2)
            }
            try await eventually("sshd sees the channel gone") { fixture.server.connectionProcesses.count == 1 }
            await fixture.loop.stop()
            #expect(channel.end?.cause == .closedByUs)
        }
    }
}
