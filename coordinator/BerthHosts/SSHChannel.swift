import BerthSystem

/// An open channel to a host: a stream of bytes to and from the command that the host runs for our key.
///
/// Dropping the last reference closes the channel.
package final class SSHChannel: Sendable {
    package let endpoint: SSHEndpoint
    let core: ChannelCore

    private init(endpoint: SSHEndpoint, core: ChannelCore) {
        self.endpoint = endpoint
        self.core = core
    }

    deinit {
        core.requestClose()
    }

    /// Connects, checks the host's key, authenticates and starts the command.
    /// - Parameters:
    ///   - endpoint: the host and the key to it.
    ///   - loop: the loop that serves the channel to its end.
    ///   - limits: what the channel may keep in memory.
    ///   - socket: a stream socket that already leads to the host's sshd, such as a tunnel's end; its options stay.
    /// - Returns: the channel, with its command started.
    /// - Throws: any `SSHError`; `.hostKeyChanged` before anything but the key exchange was sent.
    package static func open(
        _ endpoint: SSHEndpoint,
        on loop: SSHEventLoop,
        limits: SSHChannelLimits = SSHChannelLimits(),
        through socket: FileDescriptor? = nil
    ) async throws(SSHError) -> SSHChannel {
        guard HostKey.supportedAlgorithms.contains(endpoint.pinnedHostKey.algorithm) else {
            throw .hostKeyTypeUnsupported(
                host: endpoint.hostName,
                port: endpoint.port,
                algorithm: endpoint.pinnedHostKey.algorithm
            )
        }
        let id = loop.makeConnectionID()
        let credential = try await SSHCredential.load(for: endpoint) { loop.wake(id: id) }
        let core = ChannelCore(limits: limits) { loop.wake(id: id) }
        let login = SSHLogin(
            user: endpoint.user,
            userBytes: StableBytes(Array(endpoint.user.utf8)),
            credential: credential,
            pinnedHostKey: endpoint.pinnedHostKey,
            command: StableBytes(Array(endpoint.command.utf8)),
            core: core
        )
        let proxy = try await SSHProxy.start(for: endpoint)
        do throws(SSHError) {
            let destination = SSHDestination(endpoint, socket: socket, proxy: proxy)
            _ = try await loop.connect(id: id, destination: destination, purpose: .channel(login))
        } catch {
            guard let proxy else { throw error }
            throw await proxy.explain(error, host: endpoint.hostName, port: endpoint.port)
        }
        return SSHChannel(endpoint: endpoint, core: core)
    }

    /// The key that a host shows, for enrolment: connects and exchanges keys, and sends no authentication.
    ///
    /// The key is proved to be the host's own, not that the host is the right one: its owner confirms that.
    /// - Throws: `SSHError`
    package static func fetchHostKey(
        hostName: String,
        port: UInt16,
        timeout: Duration = .seconds(20),
        on loop: SSHEventLoop
    ) async throws(SSHError) -> HostKey {
        let destination = SSHDestination(host: hostName, port: port, timeout: timeout)
        let purpose = SSHPurpose.hostKey(algorithms: HostKey.supportedAlgorithms)
        return try await loop.connect(id: loop.makeConnectionID(), destination: destination, purpose: purpose)
    }

    /// The key of certain types that an enrolled host shows now, whichever is pinned. It is asked by the host's route;
    /// the host itself gets no authentication, the hosts on the way do.
    /// - Throws: `SSHError`; `.hostKeyTypeUnsupported` when it has no such key.
    static func showHostKey(
        of endpoint: SSHEndpoint,
        algorithms: [String],
        on loop: SSHEventLoop
    ) async throws(SSHError) -> HostKey {
        let proxy = try await SSHProxy.start(for: endpoint)
        let id = loop.makeConnectionID()
        do throws(SSHError) {
            let destination = SSHDestination(endpoint, socket: nil, proxy: proxy)
            return try await loop.connect(id: id, destination: destination, purpose: .hostKey(algorithms: algorithms))
        } catch {
            guard let proxy else { throw error }
            throw await proxy.explain(error, host: endpoint.hostName, port: endpoint.port)
        }
    }

    /// What the host sends, for one consumer.
    package var inbound: SSHInbound { SSHInbound(channel: self) }

    /// Queues a message; suspends while the lane's queue is full. Returning says that it is queued, not that it has
    /// arrived. Messages of a lane keep their order; control messages overtake bulk messages, but never split one.
    /// - Throws: `SSHError.closed` with the channel's end, `.sendingFinished`, or `.cancelled` while suspended.
    package func send(_ bytes: [UInt8], lane: SendLane) async throws(SSHError) {
        try await core.send(bytes, lane: lane)
    }

    /// Ends our side of the stream after everything that is queued; the command sees the end of its input.
    package func finishSending() {
        core.finishSending()
    }

    /// Ends the channel and its connection at once; what is queued is dropped. Returns when both are gone.
    package func close() async {
        core.requestClose()
        _ = await core.waitForEnd()
    }

    /// Why the channel ended; nil while it lives.
    package var end: SSHChannelEnd? { core.end }

    /// Suspends until the channel has ended.
    package func waitForEnd() async -> SSHChannelEnd {
        await core.waitForEnd()
    }

    /// Received bytes that nobody has taken, now and at most so far.
    package var unreadBytes: (now: Int, highest: Int) { core.unreadBytes }

    /// Bytes that wait in both lanes.
    package var queuedBytes: Int { core.queuedBytes }
}
