import BerthHosts
import BerthTestSupport
import Foundation
import Testing

@Suite("Host keys", .timeLimit(.minutes(5)))
struct HostKeyTests {
    /// A fixed key and the fingerprint that ssh-keygen -l prints for it.
    private let line = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f"
    private let fingerprint = "SHA256:ZkAslGjFiUHdGf/WUL8rQvkib4PTvQatUV0OUQSncCA"

    @Test("A key is read from .pub and known_hosts lines and printed as OpenSSH prints it")
    func parsing() throws {
        let key = try HostKey(line: line + " root@host")
        #expect(key.fingerprint == fingerprint)
        #expect(key.line == line)
        #expect(try HostKey(line: "[host]:2222,10.0.0.1 " + line) == key)
        let coded = try JSONEncoder().encode([key])
        #expect(try JSONDecoder().decode([HostKey].self, from: coded) == [key])
        for wrong in [
            "", "ssh-ed25519", "ssh-ed25519 !!!!", "ssh-ed25519 AAAA", line.replacing("ssh-ed25519", with: "ssh-rsa"),
        ] {
            #expect(throws: SSHError.self) { try HostKey(line: wrong) }
        }
    }

    @Test("Fetching a host's key sends no authentication")
    func fetching() async throws {
        try await HostsFixture.with(forcedCommand: "cat", extraConfiguration: ["LogLevel DEBUG1"]) { fixture in
            let key = try await SSHChannel.fetchHostKey(
                hostName: "127.0.0.1",
                port: fixture.server.port,
                on: fixture.loop
            )
            #expect(key == (try HostKey(line: fixture.server.hostKeyLine)))
            try await fixture.server.waitForLog(containing: "disconnect from")
            #expect(!fixture.server.log.contains("userauth-request"))
        }
    }

    @Test("A changed host key ends the connection before authentication and says what to do")
    func changedKey() async throws {
        try await HostsFixture.with(forcedCommand: "cat", extraConfiguration: ["LogLevel DEBUG1"]) { fixture in
            let before = try fixture.endpoint
            await fixture.server.stop()
            try await fixture.server.replaceHostKey()
            try await fixture.server.start()
            let offered = try HostKey(line: fixture.server.hostKeyLine)
            let expected = SSHError.hostKeyChanged(
                host: "127.0.0.1",
                port: fixture.server.port,
                pinned: before.pinnedHostKey,
                offered: offered
            )
            await #expect(throws: expected) { try await SSHChannel.open(before, on: fixture.loop) }
            for part in [before.pinnedHostKey.fingerprint, offered.fingerprint, "127.0.0.1", "berth host trust"] {
                #expect(expected.description.contains(part))
            }
            try await fixture.server.waitForLog(containing: "Connection closed by 127.0.0.1")
            #expect(!fixture.server.log.contains("userauth-request"))
            // The same log does show an attempt when there is one.
            let channel = try await SSHChannel.open(try fixture.endpoint, on: fixture.loop)
            #expect(fixture.server.log.contains("userauth-request"))
            await channel.close()
        }
    }

    @Test("A pinned key of a type that the host does not have, or that libssh2 cannot verify, is refused by name")
    func otherType() async throws {
        try await HostsFixture.with(forcedCommand: "cat") { fixture in
            var endpoint = try fixture.endpoint
            let path = fixture.directory.path + "/other"
            for (type, algorithm) in [("ecdsa", "ecdsa-sha2-nistp256"), ("rsa", "ssh-rsa")] {
                try await TestSSHServer.makeKey(path + type, type: ["-t", type])
                endpoint.pinnedHostKey = try HostKey(
                    line: String(contentsOfFile: path + type + ".pub", encoding: .utf8)
                )
                let expected = SSHError.hostKeyTypeUnsupported(
                    host: "127.0.0.1",
                    port: fixture.server.port,
                    algorithm: algorithm
                )
                await #expect(throws: expected) { try await SSHChannel.open(endpoint, on: fixture.loop) }
            }
        }
    }
}
