import BerthHosts
import BerthTestSupport
import Foundation
import Testing

@Suite("SSH authentication", .timeLimit(.minutes(5)))
struct AuthenticationTests {
    @Test("Keys that cannot serve are refused before a connection is made, each with its reason")
    func unusableKeys() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/key"
        try await TestSSHServer.makeKey(path + "-rsa", type: ["-t", "rsa", "-b", "2048"])
        try await TestSSHServer.makeKey(path + "-pem-rsa", type: ["-t", "rsa", "-b", "2048", "-m", "PEM"])
        try await TestSSHServer.makeKey(path + "-encrypted", passphrase: "secret words")
        try await TestSSHServer.makeKey(
            path + "-pem-encrypted",
            type: ["-t", "ecdsa", "-m", "PEM"],
            passphrase: "words"
        )
        try await TestSSHServer.makeKey(path + "-exposed")
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path + "-exposed")
        try await TestSSHServer.makeKey(path + "-cut")
        try #require(truncate(path + "-cut", 200) == 0)
        // No server: the loop is not even started.
        let loop = SSHEventLoop()
        func error(_ suffix: String) async throws -> SSHError {
            let endpoint = SSHEndpoint(
                hostName: "127.0.0.1",
                user: "anyone",
                identityFile: path + suffix,
                pinnedHostKey: try HostKey(line: String(contentsOfFile: path + "-exposed.pub", encoding: .utf8))
            )
            let error = await #expect(throws: SSHError.self) { try await SSHChannel.open(endpoint, on: loop) }
            return try #require(error)
        }
        #expect(try await error("-rsa") == .keyTypeUnsupported(path: path + "-rsa", type: "ssh-rsa"))
        #expect(try await error("-rsa").description.contains("SHA-1"))
        #expect(try await error("-pem-rsa") == .keyTypeUnsupported(path: path + "-pem-rsa", type: "ssh-rsa"))
        #expect(try await error("-encrypted") == .keyEncrypted(path: path + "-encrypted"))
        #expect(try await error("-pem-encrypted") == .keyEncrypted(path: path + "-pem-encrypted"))
        for (suffix, reason) in [
            ("-missing", "No such file"), ("-exposed", "chmod 600"), ("-cut", "damaged"), ("-exposed.pub", "chmod 600"),
        ] {
            let error = try await error(suffix)
            guard case .keyUnreadable(path + suffix, _) = error else {
                Issue.record("\(suffix) gave \(error)")
                continue
            }
            #expect(error.description.contains(reason))
        }
    }

    @Test(
        "ed25519 and ECDSA keys of all sizes let us in",
        arguments: [
            ["-t", "ed25519"], ["-t", "ecdsa", "-b", "256"], ["-t", "ecdsa", "-b", "384"],
            ["-t", "ecdsa", "-b", "521"],
            ["-t", "ecdsa", "-b", "256", "-m", "PEM"],
        ]
    )
    func usableKeys(type: [String]) async throws {
        try await HostsFixture.with(forcedCommand: "echo in") { fixture in
            let path = fixture.directory.path + "/other"
            try await TestSSHServer.makeKey(path, type: type)
            try fixture.server.authorize(publicKeyFile: path + ".pub")
            var endpoint = try fixture.endpoint
            endpoint.identityFile = path
            let channel = try await SSHChannel.open(endpoint, on: fixture.loop)
            var iterator = channel.inbound.makeAsyncIterator()
            #expect(await receive(3, from: &iterator) == Array("in\n".utf8))
        }
    }

    @Test("A key or user that the host does not know is refused with both names")
    func refused() async throws {
        try await HostsFixture.with(forcedCommand: "cat") { fixture in
            let path = fixture.directory.path + "/stranger"
            try await TestSSHServer.makeKey(path)
            var endpoint = try fixture.endpoint
            endpoint.identityFile = path
            let first = await #expect(throws: SSHError.self) { try await SSHChannel.open(endpoint, on: fixture.loop) }
            let fingerprint = try HostKey(line: String(contentsOfFile: path + ".pub", encoding: .utf8)).fingerprint
            let expected = SSHError.authenticationRefused(
                host: "127.0.0.1",
                port: fixture.server.port,
                user: fixture.server.user,
                identityFile: path,
                fingerprint: fingerprint
            )
            #expect(first == expected)
            endpoint.identityFile = fixture.server.identityFile
            endpoint.user = "nobody-of-that-name"
            let second = await #expect(throws: SSHError.self) { try await SSHChannel.open(endpoint, on: fixture.loop) }
            #expect("\(try #require(second))".contains("does not let user nobody-of-that-name in"))
        }
    }
}
