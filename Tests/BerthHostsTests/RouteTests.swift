import BerthHosts
import BerthSystem
import BerthTestSupport
import Foundation
import Testing

@Suite("Routes to hosts", .timeLimit(.minutes(5)))
struct RouteTests {
    /// Joins its input and output to the host's sshd, by processes of its own, and says what it was called with.
    private func relay(_ note: String) -> String {
        "echo $$ %h %p %r %% > '\(note)'; bash -c 'exec 3<>/dev/tcp/%h/%p; cat <&3 & cat >&3'"
    }

    @Test("A proxy command carries the stream, knows host, port and user, and ends with the connection")
    func proxyCommand() async throws {
        try await HostsFixture.with(forcedCommand: "cat") { fixture in
            let note = fixture.directory.path + "/note"
            var endpoint = try fixture.endpoint
            endpoint.route = .proxyCommand(relay(note))
            let channel = try await SSHChannel.open(endpoint, on: fixture.loop)
            let words = try String(contentsOfFile: note, encoding: .utf8).split(whereSeparator: \.isWhitespace)
            #expect(words.dropFirst() == ["127.0.0.1", "\(fixture.server.port)", "\(fixture.server.user)", "%"])
            let group = try #require(words.first.flatMap { Int32($0) })
            #expect(kill(-group, 0) == 0)
            let sent = (0..<1 << 20).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
            try await channel.send(sent, lane: .bulk)
            var iterator = channel.inbound.makeAsyncIterator()
            #expect(await receive(sent.count, from: &iterator) == sent)
            await channel.close()
            try await eventually("no process of the proxy command is left") { kill(-group, 0) != 0 }
        }
    }

    @Test("A proxy command that fails is told with its last words; one that cannot be meant is not started")
    func brokenProxyCommand() async throws {
        try await HostsFixture.with(forcedCommand: "cat") { fixture in
            func error(_ change: (inout SSHEndpoint) -> Void) async throws -> SSHError {
                var endpoint = try fixture.endpoint
                change(&endpoint)
                let error = await #expect(throws: SSHError.self) {
                    try await SSHChannel.open(endpoint, on: fixture.loop)
                }
                return try #require(error)
            }
            let failed = try await error { $0.route = .proxyCommand("echo the gate is shut >&2; exit 7") }
            guard case .proxyFailed("127.0.0.1", fixture.server.port, _, "the gate is shut") = failed else {
                Issue.record("\(failed)")
                return
            }
            let marker = fixture.directory.path + "/started"
            for (command, host) in [("touch '\(marker)'; echo %x", "127.0.0.1"), ("touch '\(marker)' %h", "a;reboot")] {
                let refused = try await error {
                    $0.route = .proxyCommand(command)
                    $0.hostName = host
                }
                guard case .routeInvalid = refused else {
                    Issue.record("\(refused)")
                    continue
                }
            }
            #expect(!FileManager.default.fileExists(atPath: marker))
        }
    }

    @Test("Two jump hosts lead to the host; one that shows another key than the pinned one gets no login")
    func jumps() async throws {
        try await HostsFixture.with(forcedCommand: "cat") { target in
            try await HostsFixture.with(forcedCommand: "false") { first in
                try await HostsFixture.with(forcedCommand: "false") { second in
                    let key = try String(contentsOfFile: target.server.identityFile + ".pub", encoding: .utf8)
                    var hops: [SSHJump] = []
                    for server in [first.server, second.server] {
                        try "restrict,port-forwarding \(key)"
                            .write(toFile: server.directory + "/authorized_keys", atomically: true, encoding: .utf8)
                        hops.append(
                            SSHJump(
                                user: server.user,
                                hostName: "127.0.0.1",
                                port: server.port,
                                pinnedHostKey: try HostKey(line: server.hostKeyLine)
                            )
                        )
                    }
                    var endpoint = try target.endpoint
                    endpoint.route = .jump(hops)
                    let channel = try await SSHChannel.open(endpoint, on: target.loop)
                    try await channel.send(Array("there and back".utf8), lane: .control)
                    var iterator = channel.inbound.makeAsyncIterator()
                    #expect(await receive(14, from: &iterator) == Array("there and back".utf8))
                    for server in [first.server, second.server] {
                        try await server.waitForLog(containing: "Accepted publickey")
                    }
                    await channel.close()

                    await second.server.stop()
                    try await second.server.replaceHostKey()
                    try FileManager.default.removeItem(atPath: second.server.directory + "/log")
                    try await second.server.start()
                    let error = await #expect(throws: SSHError.self) {
                        try await SSHChannel.open(endpoint, on: target.loop)
                    }
                    guard case .proxyFailed(_, _, _, let words)? = error else {
                        Issue.record("\(String(describing: error))")
                        return
                    }
                    #expect(words.contains("Host key verification failed"))
                    #expect(!second.server.log.contains("Accepted publickey"))
                }
            }
        }
    }
}
