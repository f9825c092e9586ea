import BerthHosts
import BerthSystem
import BerthTestSupport

/// A started sshd and an event loop for one test.
struct HostsFixture {
    let directory: TemporaryDirectory
    let server: TestSSHServer
    let loop: SSHEventLoop

    var endpoint: SSHEndpoint {
        get throws {
            SSHEndpoint(
                hostName: "127.0.0.1",
                port: server.port,
                user: server.user,
                identityFile: server.identityFile,
                pinnedHostKey: try HostKey(line: server.hostKeyLine)
            )
        }
    }

    /// Runs a test's body with a server and ends both afterwards, however the body ended.
    static func with(
        forcedCommand: String,
        extraConfiguration: [String] = [],
        _ body: (HostsFixture) async throws -> Void
    ) async throws {
        let directory = try TemporaryDirectory()
        let server = try await TestSSHServer(
            directory: directory.path,
            forcedCommand: forcedCommand,
            extraConfiguration: extraConfiguration
        )
        try await server.start()
        let fixture = HostsFixture(directory: directory, server: server, loop: SSHEventLoop())
        try fixture.loop.start()
        let result: Result<Void, any Error>
        do {
            result = .success(try await body(fixture))
        } catch {
            result = .failure(error)
        }
        await fixture.loop.stop()
        await server.stop()
        try result.get()
    }
}

/// Takes bytes from a channel until there are `count`, or it ends.
func receive(_ count: Int, from iterator: inout SSHInbound.AsyncIterator) async -> [UInt8] {
    var bytes: [UInt8] = []
    while bytes.count < count, let next = await iterator.next() { bytes += next }
    return bytes
}

extension SSHChannel {
    /// Suspends until bytes are queued and have not moved for 200 ms: the host's window is closed.
    func untilSendingStalls() async throws {
        var seen = 0
        var looks = 0
        try await eventually("nothing is sent any more") {
            let queued = queuedBytes
            looks = queued > 0 && queued == seen ? looks + 1 : 0
            seen = queued
            return looks == 40
        }
    }
}
