import BerthHosts
import BerthSystem
import BerthTestSupport
import Foundation
import Testing

@Suite("Keys in an ssh-agent", .timeLimit(.minutes(5)))
struct AgentKeyTests {
    @Test(
        "A key that only the agent has lets us in",
        arguments: [["-t", "ed25519"], ["-t", "ecdsa", "-b", "256"], ["-t", "ecdsa", "-b", "521"]]
    )
    func signing(type: [String]) async throws {
        try await HostsFixture.with(forcedCommand: "echo in") { fixture in
            let agent = try await TestSSHAgent(folder: fixture.directory.path)
            let path = fixture.directory.path + "/loaded"
            try await TestSSHServer.makeKey(path, type: type)
            try fixture.server.authorize(publicKeyFile: path + ".pub")
            try await agent.add(path)
            try FileManager.default.removeItem(atPath: path)
            let key = try HostKey(line: String(contentsOfFile: path + ".pub", encoding: .utf8))
            var endpoint = try fixture.endpoint
            endpoint.identityFile = ""
            endpoint.agent = SSHAgentIdentity(socket: agent.socket, fingerprint: key.fingerprint)
            let channel = try await SSHChannel.open(endpoint, on: fixture.loop)
            var iterator = channel.inbound.makeAsyncIterator()
            #expect(await receive(3, from: &iterator) == Array("in\n".utf8))
            await agent.stop()
        }
    }

    @Test("A key that the agent does not hold, a host that does not know it, and an agent that is gone are told apart")
    func failures() async throws {
        try await HostsFixture.with(forcedCommand: "cat") { fixture in
            let agent = try await TestSSHAgent(folder: fixture.directory.path)
            let path = fixture.directory.path + "/stranger"
            try await TestSSHServer.makeKey(path)
            let key = try HostKey(line: String(contentsOfFile: path + ".pub", encoding: .utf8))
            var endpoint = try fixture.endpoint
            endpoint.agent = SSHAgentIdentity(socket: agent.socket, fingerprint: key.fingerprint)
            let stranger = endpoint
            func error() async -> SSHError? {
                await #expect(throws: SSHError.self) { try await SSHChannel.open(stranger, on: fixture.loop) }
            }
            #expect(
                await error() == .agentKeyMissing(socket: agent.socket, fingerprint: key.fingerprint, held: [])
            )
            try await agent.add(path)
            #expect(
                await error()
                    == .authenticationRefused(
                        host: "127.0.0.1",
                        port: fixture.server.port,
                        user: fixture.server.user,
                        identityFile: "in the agent at \(agent.socket)",
                        fingerprint: key.fingerprint
                    )
            )
            await agent.stop()
            guard case .agentUnusable(agent.socket, _)? = await error() else {
                Issue.record("an agent that is gone was used")
                return
            }
        }
    }

    @Test("A jump host is let in to by the agent's key as well")
    func jump() async throws {
        try await HostsFixture.with(forcedCommand: "echo in") { target in
            try await HostsFixture.with(forcedCommand: "false") { hop in
                let agent = try await TestSSHAgent(folder: target.directory.path)
                let identity = target.server.identityFile
                let line = try String(contentsOfFile: identity + ".pub", encoding: .utf8)
                try "restrict,port-forwarding \(line)"
                    .write(toFile: hop.server.directory + "/authorized_keys", atomically: true, encoding: .utf8)
                try await agent.add(identity)
                try FileManager.default.removeItem(atPath: identity)
                var endpoint = try target.endpoint
                endpoint.agent = SSHAgentIdentity(
                    socket: agent.socket,
                    fingerprint: try HostKey(line: line).fingerprint
                )
                endpoint.route = .jump([
                    SSHJump(
                        user: hop.server.user,
                        hostName: "127.0.0.1",
                        port: hop.server.port,
                        pinnedHostKey: try HostKey(line: hop.server.hostKeyLine)
                    )
                ])
                let channel = try await SSHChannel.open(endpoint, on: target.loop)
                var iterator = channel.inbound.makeAsyncIterator()
                #expect(await receive(3, from: &iterator) == Array("in\n".utf8))
                await agent.stop()
            }
        }
    }
}
