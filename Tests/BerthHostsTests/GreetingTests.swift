import BerthSystem
import BerthTestSupport
import Foundation
import Testing

@testable import BerthHosts

@Suite("Greetings of hosts", .timeLimit(.minutes(2)))
struct GreetingTests {
    /// A port of the loopback address that answers nothing: its queue is full, so further connections wait.
    private final class SilentPort {
        let port: UInt16
        private let descriptors: [FileDescriptor]

        init() throws {
            func makeSocket(_ flags: Int32) throws -> FileDescriptor {
                let number = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | flags, 0)
                guard number >= 0 else { throw SystemError(operation: "make a socket") }
                return FileDescriptor(adopting: number)
            }
            func withAddress<Result>(_ address: sockaddr_in, _ body: (UnsafePointer<sockaddr>) -> Result) -> Result {
                withUnsafePointer(to: address) { $0.withMemoryRebound(to: sockaddr.self, capacity: 1, body) }
            }
            let size = socklen_t(MemoryLayout<sockaddr_in>.size)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
            let listener = try makeSocket(0)
            guard withAddress(address, { bind(listener.number, $0, size) }) == 0, listen(listener.number, 0) == 0 else {
                throw SystemError(operation: "listen")
            }
            var length = size
            _ = withUnsafeMutablePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(listener.number, $0, &length) }
            }
            port = UInt16(bigEndian: address.sin_port)
            var all = [listener]
            for _ in 0..<4 {
                let client = try makeSocket(Int32(SOCK_NONBLOCK.rawValue))
                _ = withAddress(address) { connect(client.number, $0, size) }
                all.append(client)
            }
            descriptors = all
        }
    }

    @Test("An address that does not answer leaves time for the next one of the name")
    func severalAddresses() async throws {
        try await HostsFixture.with(forcedCommand: "cat") { fixture in
            let silent = try SilentPort()
            let addresses = try [silent.port, silent.port, fixture.server.port].flatMap {
                try SocketAddress.resolve(host: "127.0.0.1", port: $0, numericOnly: true)
            }
            let greeting = try await Threads.run(name: "greeting") {
                try GreetingReader(host: "several.example", port: 22, limit: .seconds(9))
                    .read(over: nil, addresses: addresses)
            }
            #expect(greeting.banner.hasPrefix("SSH-2.0-"))
            // Where none answers, the whole time is spent and told.
            let error = await #expect(throws: SSHError.self) {
                try await Threads.run(name: "greeting") {
                    try GreetingReader(host: "several.example", port: 22, limit: .milliseconds(300))
                        .read(over: nil, addresses: Array(addresses.prefix(2)))
                }
            }
            guard case .timedOut(_, _, .connecting, _)? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
    }
}
