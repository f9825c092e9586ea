import BerthCore
import BerthSystem
import Foundation
import Synchronization

/// The connections of `attach` to the agents of its host, one for each socket in the folder.
final class SlotLinks: Sendable {
    /// Most bytes of messages that wait for one agent.
    static let queueLimit = 8 << 20

    private struct Link {
        let socket: FrameSocket
        /// Tells a socket file from a later one under the same name.
        let file: FileStamp
    }

    private struct State {
        var links: [String: Link] = [:]
        /// Socket files whose agents have closed the channel for a reason; they are not asked again.
        var refusing: Set<FileStamp> = []
        var retries: [String: ContinuousClock.Instant] = [:]
        var isEnded = false
    }

    private static let log = Log(component: "attach")

    private let folder: String
    private let hello: CoordinatorHello
    private let upwards: FrameQueue
    private let overflow: @Sendable () -> Void
    private let state = Mutex(State())

    /// Links to the agents of a folder; `overflow` is called when the coordinator does not take its messages.
    init(folder: String, hello: CoordinatorHello, upwards: FrameQueue, overflow: @escaping @Sendable () -> Void) {
        self.overflow = overflow
        self.folder = folder
        self.hello = hello
        self.upwards = upwards
    }

    /// Watches the folder on a thread of its own until `end`.
    func start() {
        Threads.detach(name: "watch sockets") {
            while !self.state.withLock({ $0.isEnded }) {
                self.look()
                usleep(200_000)
            }
        }
    }

    func end() {
        let links = state.withLock { state in
            state.isEnded = true
            return state.links.values.map(\.socket)
        }
        for socket in links { socket.close() }
    }

    /// Passes a frame on to the slot's agent. Never waits for it.
    func pass(_ frame: Frame) {
        guard let link = state.withLock({ $0.links[frame.route] }) else {
            return tell(.slotLeft(SlotLeft(slot: frame.route, reason: "no agent of that slot is connected")))
        }
        guard !link.socket.queue.offer(frame) else { return }
        Self.log.error("an agent does not take its messages", ["slot": frame.route])
        leave(frame.route, link.socket, "the agent does not take its messages; its connection was closed")
    }

    private func look() {
        for name in Folders.names(in: folder) where name.hasSuffix(".sock") {
            let slot = String(name.dropLast(5))
            guard SlotName.isValid(slot), let file = FileStamp(socket: "\(folder)/\(name)") else { continue }
            let isWanted = state.withLock { state in
                state.links[slot] == nil && !state.refusing.contains(file)
                    && state.retries[slot].map { $0 < .now } ?? true
            }
            if isWanted { connect(slot, file) }
        }
    }

    private func connect(_ slot: String, _ file: FileStamp) {
        let socket: FrameSocket
        do {
            socket = FrameSocket(
                try SocketConnection.connect(unixPath: "\(folder)/\(slot).sock"),
                queue: FrameQueue(controlLimit: Self.queueLimit, laneLimit: Self.queueLimit)
            )
            guard socket.queue.offer(try CoordinatorMessage.hello(hello).frame(route: slot)) else { return }
        } catch {
            // A socket that a dead agent left behind; its next one will be seen.
            state.withLock { $0.retries[slot] = .now + .seconds(1) }
            return
        }
        let isKept = state.withLock { state in
            guard !state.isEnded else { return false }
            state.links[slot] = Link(socket: socket, file: file)
            return true
        }
        guard isKept else { return socket.close() }
        socket.start(
            name: slot,
            receive: { self.receive($0, from: slot, file, socket) },
            ended: { self.leave(slot, socket, $0 ?? "the agent closed its connection") }
        )
    }

    /// Passes a frame of an agent on, under the slot whose socket it came from.
    private func receive(_ frame: Frame, from slot: String, _ file: FileStamp, _ socket: FrameSocket) -> Bool {
        let routed = Frame(type: frame.type, route: slot, payload: frame.payload)
        if frame.type == .chunk { return pass(upwards: routed, lane: slot, socket) }
        let type = HostMessage.type(of: frame.payload, among: [HostMessage.resultType, HostMessage.closingType])
        if type == HostMessage.resultType { return pass(upwards: routed, lane: slot, socket) }
        offer(routed)
        guard type == HostMessage.closingType, case .closing(let closing)? = try? HostMessage.parse(frame.payload)
        else { return true }
        state.withLock { _ = $0.refusing.insert(file) }
        Self.log.notice("an agent closes the channel", ["slot": slot, "reason": closing.reason])
        leave(slot, socket, closing.reason)
        return false
    }

    private func pass(upwards frame: Frame, lane: String, _ socket: FrameSocket) -> Bool {
        if upwards.offer(frame, lane: lane) { return true }
        leave(lane, socket, "more evidence than the channel takes; the connection was closed")
        return false
    }

    private func leave(_ slot: String, _ socket: FrameSocket, _ reason: String) {
        let wasThere = state.withLock { state in
            guard state.links[slot]?.socket === socket else { return false }
            state.links[slot] = nil
            state.retries[slot] = .now + .milliseconds(200)
            return !state.isEnded
        }
        socket.close()
        guard wasThere else { return }
        // What waits is part of what the agent will send again.
        upwards.drop(lane: slot)
        tell(.slotLeft(SlotLeft(slot: slot, reason: reason)))
    }

    private func offer(_ frame: Frame) {
        if !upwards.offer(frame), !state.withLock({ $0.isEnded }) { overflow() }
    }

    private func tell(_ message: HostMessage) {
        do {
            offer(try message.frame())
        } catch {
            Self.log.error("a message cannot be written", ["error": "\(error)"])
        }
    }
}
