import BerthCore
import BerthSystem
import Foundation
import Synchronization

extension SlotAgent {
    /// Most bytes of control messages that wait for a channel.
    private static let controlLimit = 8 << 20
    /// Most bytes of chunks that wait for a channel.
    private static let chunkLimit = 4 * Frame.chunkSize

    /// A connection that may become the channel.
    private struct Connection {
        let number: Int
        let peer: ProcessIdentity?
        let socket: FrameSocket
    }

    /// Takes a new connection: it becomes the agent's channel with a coordinator's hello.
    package func connect(_ connection: SocketConnection) {
        let socket = FrameSocket(
            connection,
            queue: FrameQueue(controlLimit: Self.controlLimit, laneLimit: Self.chunkLimit)
        )
        let peer = connection.peerProcess.flatMap { ProcessIdentity(running: $0) }
        let number = state.withLock { state in
            state.connections += 1
            return state.connections
        }
        socket.start(
            name: "channel \(number)",
            receive: { self.receive($0, Connection(number: number, peer: peer, socket: socket)) },
            ended: { self.ended(number, $0) }
        )
    }

    private func ended(_ number: Int, _ reason: String?) {
        let channel = state.withLock { state -> Channel? in
            guard state.channel?.number == number else { return nil }
            defer { state.channel = nil }
            return state.channel
        }
        guard let channel else { return }
        channel.sender.end()
        Self.log.notice("the channel ended", ["reason": reason ?? "closed by the other side"])
    }

    private func receive(_ frame: Frame, _ connection: Connection) -> Bool {
        let socket = connection.socket
        guard frame.type == .control else { return true }
        let message: CoordinatorMessage
        do {
            message = try CoordinatorMessage.parse(frame.payload)
        } catch {
            Self.log.error("a message cannot be read", ["error": "\(error)"])
            return refuse(socket, "\(error)")
        }
        if case .hello(let hello) = message { return adopt(hello, connection) }
        guard state.withLock({ $0.channel?.number }) == connection.number else {
            return refuse(socket, "this channel is not the agent's; a hello comes first, and newer channels win")
        }
        switch message {
        case .assign(let assignment): assign(assignment)
        case .renewed(let renewal): state.withLock { $0.lease.renewed(renewal.sequence) }
        case .cancel(let cancellation): cancel(cancellation)
        case .recorded(let acknowledgement): recorded(acknowledgement)
        case .release(let order): state.withLock { $0.releases.append(order) }
        case .closing(let closing):
            Self.log.notice("the coordinator closes the channel", ["reason": closing.reason])
            return false
        case .hello, .query, .inspect: break
        }
        return true
    }

    /// Says why a connection is not wanted and ends it; always false.
    private func refuse(_ socket: FrameSocket, _ reason: String, versions: ProtocolVersions? = nil) -> Bool {
        send(.closing(Closing(reason: reason, versions: versions)), over: socket)
        socket.queue.finish()
        _ = socket.queue.waitUntilDrained(.milliseconds(500))
        return false
    }

    private func adopt(_ hello: CoordinatorHello, _ connection: Connection) -> Bool {
        let socket = connection.socket
        guard ProtocolVersions.own.common(with: hello.versions) != nil else {
            return refuse(
                socket,
                "this agent speaks protocol versions \(ProtocolVersions.own.lowest)–\(ProtocolVersions.own.highest), "
                    + "the coordinator \(hello.versions.lowest)–\(hello.versions.highest)",
                versions: .own
            )
        }
        return decisions.withLock { _ in
            let highest = parts.journal.state.highestTerm
            guard hello.term >= highest || parts.hooks.ignoresFencing else {
                return refuse(
                    socket,
                    "term \(hello.term) of \(hello.coordinator) is below \(highest): another coordinator leads this host"
                )
            }
            // An `attach` whose coordinator is long gone must not take the agent from one that came after it.
            if let current = state.withLock({ $0.channel }), current.number != connection.number,
                current.term == hello.term, let newer = current.peer, connection.peer?.isOlder(than: newer) == true
            {
                return refuse(socket, "a newer channel is open")
            }
            // On a full disk the slot must still be able to say so; no attempt begins before the term is on disk.
            if hello.term > highest { parts.journal.remember(.term(hello.term)) }
            takeOver(hello, connection)
            return true
        }
    }

    private func agentHello(_ keeping: SlotKeeping) -> AgentHello {
        let driver = parts.execution.driver
        return AgentHello(
            slot: parts.slot,
            agentVersion: BerthVersion.text,
            device: driver.facts,
            key: Hex.encode(parts.execution.key.publicBytes),
            highestEpoch: parts.journal.state.highestEpoch,
            features: parts.features,
            tools: driver.tools,
            running: state.withLock { $0.running?.reference },
            unacknowledged: parts.journal.state.unacknowledged,
            keeping: keeping
        )
    }

    private func takeOver(_ hello: CoordinatorHello, _ connection: Connection) {
        let socket = connection.socket
        let sender = ResultSender(parts.results, queue: socket.queue, slot: parts.slot)
        let keeping = lookAtKeeping()
        let opened = ContinuousClock.now
        // No heartbeat of another thread tells of something older in between.
        let old = told.withLock { told in
            send(.agentHello(agentHello(keeping)), over: socket)
            told = keeping
            return state.withLock { state in
                defer {
                    state.channel = Channel(
                        number: connection.number,
                        term: hello.term,
                        peer: connection.peer,
                        socket: socket,
                        sender: sender
                    )
                }
                state.keeping = keeping
                state.lease.open(at: opened)
                state.lease.adopt(leaseMilliseconds: hello.leaseMilliseconds)
                state.length = .milliseconds(max(hello.leaseMilliseconds, 1))
                state.heartbeat = .milliseconds(max(hello.heartbeatMilliseconds, 10))
                return state.channel
            }
        }
        if let old, old.number != connection.number {
            old.sender.end()
            send(.closing(Closing(reason: "a newer channel has taken over")), over: old.socket)
            old.socket.closeAfterwards()
        } else {
            old?.sender.end()
        }
        // Only now: a result that was kept meanwhile has either found the new channel or is in the journal.
        for attempt in undelivered { sender.add(attempt) }
        sender.start()
        // At once: no assignment is taken before the coordinator has answered one.
        tick()
        Self.log.notice("the channel is open", ["coordinator": hello.coordinator, "term": "\(hello.term)"])
    }
}
