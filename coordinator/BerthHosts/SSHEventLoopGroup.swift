import BerthSystem
import Foundation

/// Several event loops that share the hosts, and the gate through which all logins go.
package final class SSHEventLoopGroup: Sendable {
    /// Four threads, or fewer on a machine with fewer processors.
    package static var defaultCount: Int { min(4, ProcessInfo.processInfo.activeProcessorCount) }

    private let loops: [SSHEventLoop]
    private let gate: LoginGate

    /// - Parameters:
    ///   - count: of threads, at least one.
    ///   - logins: how many connections may be logging in at once.
    package init(count: Int = defaultCount, logins: LoginLimits = LoginLimits()) {
        loops = (0..<max(1, count)).map { SSHEventLoop(name: "ssh-\($0)") }
        gate = LoginGate(limits: logins)
    }

    /// Starts the threads; without effect if they run.
    /// - Throws: `SSHError.loopNotStarted`
    package func start() throws(SSHError) {
        for loop in loops { try loop.start() }
    }

    /// Closes all channels and ends the threads; returns when they have ended.
    package func stop() async {
        for loop in loops { await loop.stop() }
    }

    /// How many connections each loop serves.
    package var connectionCounts: [Int] { loops.map(\.connectionCount) }

    /// How many logins wait for their turn.
    package var waitingLogins: Int { gate.waitingCount }

    /// Opens a channel as `SSHChannel.open` does, when it is its turn, on the loop with the fewest connections.
    /// - Throws: any `SSHError`
    package func open(
        _ endpoint: SSHEndpoint,
        limits: SSHChannelLimits = SSHChannelLimits()
    ) async throws(SSHError) -> SSHChannel {
        try await gate.pass(endpoint.loginAddresses) { () throws(SSHError) in
            try await SSHChannel.open(endpoint, on: nextLoop(), limits: limits)
        }
    }

    /// The key that a host shows, as `SSHChannel.fetchHostKey` reads it, when it is its turn.
    /// - Throws: `SSHError`
    package func fetchHostKey(
        hostName: String,
        port: UInt16,
        timeout: Duration = .seconds(20)
    ) async throws(SSHError) -> HostKey {
        try await gate.pass([SSHEndpoint.loginAddress(hostName, port)]) { () throws(SSHError) in
            try await SSHChannel.fetchHostKey(hostName: hostName, port: port, timeout: timeout, on: nextLoop())
        }
    }

    /// The keys that an enrolled host shows now, one of each type, the pinned key's type first, until one is found that
    /// will do. No authentication is sent to it.
    /// - Parameters:
    ///   - endpoint: the host and the way to it.
    ///   - isFound: whether a key will do.
    /// - Returns: the keys that were looked at; empty if the host has none of a type that can be verified.
    /// - Throws: `SSHError` when the host cannot be asked.
    package func showHostKeys(
        of endpoint: SSHEndpoint,
        until isFound: (HostKey) -> Bool
    ) async throws(SSHError) -> [HostKey] {
        let pinned = endpoint.pinnedHostKey.algorithm
        var keys: [HostKey] = []
        let algorithms = HostKey.supportedAlgorithms
        for algorithm in algorithms.filter({ $0 == pinned }) + algorithms.filter({ $0 != pinned }) {
            do throws(SSHError) {
                let key = try await gate.pass(endpoint.loginAddresses) { () throws(SSHError) in
                    try await SSHChannel.showHostKey(of: endpoint, algorithms: [algorithm], on: nextLoop())
                }
                keys.append(key)
                if isFound(key) { break }
            } catch {
                guard case .hostKeyTypeUnsupported = error else { throw error }
            }
        }
        return keys
    }

    /// Does something that an sshd sees as a login, when it is its turn.
    func pass<Result: Sendable>(
        _ endpoint: SSHEndpoint,
        _ body: () async throws(SSHError) -> Result
    ) async throws(SSHError) -> Result {
        try await gate.pass(endpoint.loginAddresses, body)
    }

    private func nextLoop() -> SSHEventLoop {
        loops.min { $0.connectionCount < $1.connectionCount } ?? loops[0]
    }
}
