import BerthCore
import BerthHosts
import BerthStore
import BerthSystem
import Foundation

/// Keeps the one channel to one host: connects, greets, passes messages on, connects again.
actor HostLink {
    /// What the channel did last.
    struct Status: Sendable {
        var state: HostView.State = .connecting
        var problem: String?
        var clockSkew: Int64?
        /// When the host is tried again; nil while it is connected or being tried.
        var nextTry: Timestamp?
    }

    private static let greetingSeconds = 20
    /// Most slots of a host.
    private static let slotLimit = 1000

    nonisolated let host: HostRecord
    private let open: HostChannel.Opener
    private let archive: CoordinatorArchive
    private let greeting: @Sendable () async throws -> CoordinatorHello
    private let farm: Farm
    private let log = Log(component: "host")

    private(set) var status = Status()
    private var channel: HostChannel?
    private var hello: CoordinatorHello?
    private var greeted = false
    /// What the host's agents say during the present connection, slot by slot.
    private var inboxes: [String: SlotInbox] = [:]
    private var budget = LinkBudget()
    private var transfers: BlobTransfers?
    /// Whose evidence came last in the bytes at hand: the farm need not hear of each piece that came at once.
    private var heard: String?
    /// The builds that the host has, as it has said during this connection.
    private var provided: Set<Digest> = []
    private var schedule = ReconnectSchedule()
    /// Since the greeting of the present connection.
    private var connectedSince: ContinuousClock.Instant?
    private var pause: Task<Void, any Error>?

    init(
        host: HostRecord,
        open: @escaping HostChannel.Opener,
        archive: CoordinatorArchive,
        farm: Farm,
        greeting: @escaping @Sendable () async throws -> CoordinatorHello
    ) {
        self.host = host
        self.open = open
        self.archive = archive
        self.farm = farm
        self.greeting = greeting
    }

    /// Runs until the task is cancelled.
    func run() async {
        while !Task.isCancelled {
            let problem: String
            do {
                problem = try await session()
            } catch SSHError.hostKeyChanged(_, _, let pinned, let shown) {
                problem = await farm.hostShows(shown, insteadOf: pinned, record: host)
            } catch {
                problem = "\(error)"
            }
            let worked = connectedSince.map { .now - $0 }
            connectedSince = nil
            await ended(problem)
            await wait(schedule.pause(afterConnectionOf: worked, chance: Double.random(in: 0...1)))
        }
        await channel?.close()
    }

    /// Waits for the next try, or until somebody asks for it.
    private func wait(_ length: Duration) async {
        guard !Task.isCancelled else { return }
        status.nextTry = Timestamp(milliseconds: Timestamp.now().milliseconds + length.milliseconds)
        let pause = Task { try await Task.sleep(for: length) }
        self.pause = pause
        await withTaskCancellationHandler {
            _ = await pause.result
        } onCancel: {
            pause.cancel()
        }
        self.pause = nil
        status.nextTry = nil
    }

    /// Sends a message to one of the host's slots, or to the host itself.
    /// - Throws: `HostLinkError.notConnected`, what the channel throws
    func send(_ message: CoordinatorMessage, route: String = "") async throws {
        guard let channel else { throw HostLinkError.notConnected(host: host.name) }
        try await channel.send(try message.frame(route: route).bytes, .control)
    }

    /// Makes sure that the host has these builds: asks which of their blobs it lacks and sends those, each once however
    /// many slots wait for it. It is not asked again during a connection, until one of its agents lacks something.
    /// - Throws: `HostLinkError`, `ArchiveError`, `SystemError`
    func provide(builds: [Digest]) async throws {
        guard let transfers else { throw HostLinkError.notConnected(host: host.name) }
        let unknown = builds.filter { !provided.contains($0) }
        guard !unknown.isEmpty else { return }
        var blobs: [BlobReference] = []
        for build in unknown { blobs += try await archive.blobs(of: build) }
        try await transfers.provide(blobs)
        provided.formUnion(unknown)
    }

    /// An agent of the host lacks something: what it has is asked for again.
    func forgetProvided() {
        provided = []
    }

    /// Greets one slot's agent anew, so that it says again what it executes and keeps.
    /// - Throws: `HostLinkError.notConnected`, what the channel throws
    func greet(_ slot: String) async throws {
        guard let hello else { throw HostLinkError.notConnected(host: host.name) }
        try await send(.hello(hello), route: slot)
    }

    /// A term for a new connection. As long as the store cannot give one out there is nothing to connect for.
    private func newTerm() async throws -> CoordinatorHello {
        while true {
            do {
                return try await greeting()
            } catch let error as StoreError where error.mayPass {
                let problem = "\(error)"
                if status.problem != problem {
                    log.error("Host waits for the store", ["host": host.name, "problem": problem])
                }
                status.problem = problem
                try await Task.sleep(for: .milliseconds(500))
            }
        }
    }

    private func session() async throws -> String {
        let hello = try await newTerm()
        let channel = try await open(host)
        self.channel = channel
        self.hello = hello
        greeted = false
        budget = LinkBudget()
        provided = []
        let name = host.name
        transfers = BlobTransfers(host: name, archive: archive, channel: channel)
        try await channel.send(Frame.preamble, .control)
        try await channel.send(try CoordinatorMessage.hello(hello).frame().bytes, .control)
        try await withThrowingTaskGroup(of: Bool.self) { group in
            defer { group.cancelAll() }
            group.addTask {
                try await self.read(channel)
                return true
            }
            group.addTask {
                try await Task.sleep(for: .seconds(Self.greetingSeconds))
                if await self.greeted { return false }
                throw HostLinkError.noGreeting(host: name, seconds: Self.greetingSeconds)
            }
            for try await hasEnded in group where hasEnded { return }
        }
        // A stop of the coordinator ends the reading, not the channel.
        if Task.isCancelled { await channel.close() }
        return await channel.endReason()
    }

    private func read(_ channel: HostChannel) async throws {
        var decoder = FrameDecoder(expectsPreamble: true)
        while let bytes = try await channel.next() {
            decoder.feed(bytes)
            heard = nil
            while let frame = try decoder.next() {
                try await handle(frame)
            }
        }
    }

    private func handle(_ frame: Frame) async throws {
        guard greeted || frame.route.isEmpty else {
            throw HostLinkError.misrouted(host: host.name, route: frame.route, problem: "the host has not greeted yet")
        }
        switch frame.type {
        case .chunk:
            guard let chunk = Chunk(payload: frame.payload) else {
                throw HostLinkError.misrouted(host: host.name, route: frame.route, problem: "the chunk has no header")
            }
            if heard != frame.route {
                heard = frame.route
                await farm.hearEvidence(slot: frame.route, from: self)
            }
            try await queue(.chunk(chunk), frame)
        case .control:
            let message = try HostMessage.parse(frame.payload)
            if frame.route.isEmpty {
                try await handleHost(message)
            } else {
                guard let item = try await farm.receive(message, slot: frame.route, from: self) else { return }
                try await queue(item, frame)
            }
        }
    }

    /// Has something written down that a slot's agent said, without waiting for it.
    private func queue(_ item: SlotInbox.Item, _ frame: Frame) async throws {
        guard let inbox = try inboxes[frame.route] ?? makeInbox(frame.route, for: item) else { return }
        switch inbox.offer(.init(item: item, bytes: frame.payload.count)) {
        case .taken: break
        case .refused: await farm.overflow(item, inbox)
        case .flood: throw HostLinkError.flooded(host: host.name, slot: frame.route, limit: LinkBudget.limit)
        }
    }

    /// Nil for what a slot says whose agent has not said hello, or was turned away when it did.
    private func makeInbox(_ slot: String, for item: SlotInbox.Item) throws -> SlotInbox? {
        guard case .hello = item else { return nil }
        guard SlotName.isValid(slot) else {
            throw HostLinkError.misrouted(host: host.name, route: slot, problem: "this cannot be a slot's name")
        }
        guard inboxes.count < Self.slotLimit else {
            throw HostLinkError.misrouted(
                host: host.name,
                route: slot,
                problem: "it has \(Self.slotLimit) slots already"
            )
        }
        let inbox = SlotInbox(slot: slot, link: self, budget: budget, sender: archive.makeSender())
        inboxes[slot] = inbox
        farm.addWork.yield(.serve(inbox))
        return inbox
    }

    private func handleHost(_ message: HostMessage) async throws {
        switch message {
        case .hostHello(let hello):
            guard ProtocolVersions.own.common(with: hello.versions) != nil else {
                throw HostLinkError.protocolMismatch(host: host.name, theirs: hello.versions)
            }
            greeted = true
            connectedSince = .now
            status = Status(
                state: .connected,
                problem: nil,
                clockSkew: hello.wallClock.clampedDifference(from: Timestamp.now().milliseconds)
            )
            await farm.hostConnected(host.name)
            // Heartbeats behind this greeting do not wait for the store.
            farm.addWork.yield(.showedPinnedKey(host: host.name))
            log.notice("Host connected", ["host": host.name, "agent": hello.agentVersion])
        case .missing(let missing): await transfers?.answered(missing)
        case .received(let bytes): await transfers?.received(bytes)
        case .stored(let stored): await transfers?.stored(stored.digest)
        case .refused(let refused): await transfers?.refused(refused)
        // It was not asked here.
        case .facts: break
        case .slotLeft(let left): await farm.slotLeft(left.slot, host: host.name, reason: left.reason, from: self)
        case .closing(let closing):
            throw HostLinkError.closedByHost(host: host.name, reason: closing.reason)
        case .agentHello, .accepted, .declined, .heartbeat, .progress, .result, .released:
            throw HostLinkError.misrouted(host: host.name, route: "", problem: "only an agent says this")
        }
    }

    private func ended(_ problem: String) async {
        if let channel {
            self.channel = nil
            await channel.close()
        }
        hello = nil
        for inbox in inboxes.values { inbox.end() }
        inboxes = [:]
        let transfers = transfers
        self.transfers = nil
        await transfers?.end(HostLinkError.notConnected(host: host.name))
        guard !Task.isCancelled else { return }
        if status.problem != problem { log.error("Host not connected", ["host": host.name, "problem": problem]) }
        status = Status(state: .failing, problem: problem)
        await farm.hostLeft(host.name, reason: problem)
    }
}
