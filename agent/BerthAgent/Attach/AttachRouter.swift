import BerthCore
import BerthSystem

/// Decides where frames from the coordinator go. It is used by the thread that reads them.
final class AttachRouter {
    private let sockets: String
    private let upwards: FrameQueue
    private let blobs: BlobThread
    private let facts: HostFactsCollector
    private let overflow: @Sendable () -> Void
    private var links: SlotLinks?

    init(
        sockets: String,
        upwards: FrameQueue,
        blobs: BlobThread,
        facts: HostFactsCollector,
        overflow: @escaping @Sendable () -> Void
    ) {
        self.facts = facts
        self.overflow = overflow
        self.sockets = sockets
        self.upwards = upwards
        self.blobs = blobs
    }

    /// Takes a frame.
    /// - Returns: false when the coordinator closes the channel.
    /// - Throws: `AgentFailure` when the channel cannot go on.
    func take(_ frame: Frame) throws -> Bool {
        if !frame.route.isEmpty {
            guard let links else { throw AgentFailure(.protocolMismatch, "a frame for a slot came before the hello") }
            links.pass(frame)
            return true
        }
        guard frame.type == .control else {
            guard let chunk = Chunk(payload: frame.payload) else {
                throw AgentFailure(.protocolMismatch, "a chunk is shorter than its header")
            }
            blobs.add(chunk)
            return true
        }
        let message: CoordinatorMessage
        do {
            message = try CoordinatorMessage.parse(frame.payload)
        } catch {
            throw AgentFailure(.protocolMismatch, "\(error)")
        }
        switch message {
        case .hello(let hello): try begin(hello)
        case .query(let query): blobs.add(query)
        case .inspect(let query): facts.answer(query, over: upwards)
        case .closing: return false
        case .assign, .renewed, .cancel, .recorded, .release:
            throw AgentFailure(.protocolMismatch, "a message for an agent came without the name of its slot")
        }
        return true
    }

    /// Says why the channel closes.
    func close(_ reason: String) {
        guard let frame = try? HostMessage.closing(Closing(reason: reason)).frame() else { return }
        _ = upwards.offer(frame)
    }

    func end() {
        links?.end()
    }

    private func begin(_ hello: CoordinatorHello) throws {
        guard ProtocolVersions.own.common(with: hello.versions) != nil else {
            throw AgentFailure(
                .protocolMismatch,
                "this host speaks protocol versions \(ProtocolVersions.own.lowest)–\(ProtocolVersions.own.highest), "
                    + "the coordinator \(hello.versions.lowest)–\(hello.versions.highest)"
            )
        }
        links?.end()
        let links = SlotLinks(folder: sockets, hello: hello, upwards: upwards, overflow: overflow)
        links.start()
        self.links = links
    }
}
