import BerthArchive
import BerthCoordinator
import BerthCore
import BerthSystem
import BerthTestSupport
import Synchronization

/// The other side of a host's channel, in memory: a test says what the host says and sees what the farm sends.
final class StandInHost: Sendable {
    private struct State {
        var inbound: AsyncStream<[UInt8]>.Continuation?
        var stream: AsyncStream<[UInt8]>?
        var decoder = FrameDecoder(expectsPreamble: true)
        var messages: [(route: String, message: CoordinatorMessage)] = []
        var chunks: [Chunk] = []
        var connections = 0
        var greetings = 0
        /// What the host has, and what it was asked for.
        var blobs: Set<Digest> = []
        var sizes: [Digest: Int64] = [:]
        var received: [Digest: Int64] = [:]
    }

    private let state = Mutex(State())
    private let answersQueries: Bool
    private let key = Result { try SigningKey.make() }

    /// - Parameter answersQueries: whether blob transfers are answered as a real host would.
    init(answersQueries: Bool = true) {
        self.answersQueries = answersQueries
    }

    static let record = record(named: "host-1")
    static let secondRecord = record(named: "host-2")

    private static func record(named name: String) -> HostRecord {
        HostRecord(
            name: name,
            hostName: "192.0.2.1",
            port: 22,
            user: "berth",
            identityFile: "/nowhere",
            hostKey: "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHUtY1l2mZ0J0q4Kp3lYz2kQ0Yw2mX1Q0S2Zg5vG0b2P"
        )
    }

    var opener: HostChannel.Opener {
        { _ in
            let (stream, continuation) = AsyncStream<[UInt8]>.makeStream()
            self.state.withLock { state in
                state.decoder = FrameDecoder(expectsPreamble: true)
                state.inbound = continuation
                state.connections += 1
            }
            let iterator = Shared(stream)
            continuation.yield(Frame.preamble)
            return HostChannel(
                send: { bytes, _ in try self.receive(bytes) },
                next: { await iterator.next() },
                endReason: { "the stand-in host hung up" },
                close: { continuation.finish() }
            )
        }
    }

    func say(_ message: HostMessage, route: String = "") throws {
        let bytes = try message.frame(route: route).bytes
        _ = state.withLock { $0.inbound?.yield(bytes) }
    }

    /// A report as the host's agents sign it.
    func signed(_ report: AttemptReport) throws -> AttemptReport {
        let key = try key.get()
        let signature = try key.sign(try CanonicalJSON.encode(AttemptStatement(report)))
        return report.with(AgentSignature(key: Hex.encode(key.publicBytes), signature: Hex.encode(signature)))
    }

    /// How often the farm has asked what the host lacks.
    var queries: Int {
        state.withLock { state in
            state.messages.count { if case .query = $0.message { true } else { false } }
        }
    }

    /// Says of the latest query that nothing is missing.
    func answerQueries() throws {
        let latest = state.withLock { state in
            state.messages.compactMap { if case .query(let query) = $0.message { query.request } else { nil } }.last
        }
        if let latest { try say(.missing(MissingBlobs(request: latest, missing: []))) }
    }

    func hangUp() {
        state.withLock { $0.inbound?.finish() }
    }

    /// Waits for the farm's next connection and greets it.
    func greet(wallClock: Int64 = 0) async throws {
        try await eventually("the farm connects") { state.withLock { $0.connections > $0.greetings } }
        state.withLock { $0.greetings = $0.connections }
        try say(.hostHello(HostHello(agentVersion: "t", hostName: "h", wallClock: wallClock, diskFree: 1)))
    }

    func join(
        _ slot: String,
        os: OSPin = OSPin(version: "18.0", build: "x"),
        running: AttemptReference? = nil,
        unacknowledged: [AttemptReference] = [],
        keeping: SlotKeeping? = nil
    ) throws {
        let device = DeviceFacts(
            identity: "device-\(slot)",
            platform: .linuxSimulated,
            model: "m",
            os: os
        )
        let hello = AgentHello(
            slot: slot,
            agentVersion: "t",
            device: device,
            key: Hex.encode(try key.get().publicBytes),
            highestEpoch: 0,
            features: [],
            tools: [:],
            running: running,
            unacknowledged: unacknowledged,
            keeping: keeping
        )
        try say(.agentHello(hello), route: slot)
    }

    var connections: Int { state.withLock { $0.connections } }

    /// Bytes of each blob that were sent, repeats counted.
    var received: [Digest: Int64] { state.withLock { $0.received } }

    func messages(to route: String) -> [CoordinatorMessage] {
        state.withLock { state in state.messages.filter { $0.route == route }.map(\.message) }
    }

    /// How often the agent of a slot was greeted by itself.
    func greetings(to slot: String) -> Int {
        messages(to: slot).count { if case .hello = $0 { true } else { false } }
    }

    /// How many heartbeats of a slot were answered.
    func renewals(to slot: String) -> Int {
        messages(to: slot).count { if case .renewed = $0 { true } else { false } }
    }

    /// Sends a blob of evidence as a slot's agent does.
    func send(_ bytes: [UInt8], offset: UInt64 = 0, route: String) {
        let chunk = Chunk(digest: Digest.sha256(of: bytes), offset: offset, bytes: bytes)
        let frame = Frame(type: .chunk, route: route, payload: chunk.payload).bytes
        _ = state.withLock { $0.inbound?.yield(frame) }
    }

    func assignments(to slot: String) -> [Assignment] {
        messages(to: slot).compactMap { if case .assign(let assignment) = $0 { assignment } else { nil } }
    }

    private func receive(_ bytes: [UInt8]) throws {
        var answers: [HostMessage] = []
        try state.withLock { state in
            state.decoder.feed(bytes)
            while let frame = try state.decoder.next() {
                switch frame.type {
                case .control:
                    let message = try CoordinatorMessage.parse(frame.payload)
                    state.messages.append((frame.route, message))
                    guard answersQueries, case .query(let query) = message else { continue }
                    for blob in query.blobs { state.sizes[blob.digest] = blob.size }
                    let missing = query.blobs.filter { !state.blobs.contains($0.digest) }
                        .map { MissingBlobs.Missing(digest: $0.digest, have: 0) }
                    answers.append(.missing(MissingBlobs(request: query.request, missing: missing)))
                case .chunk:
                    guard let chunk = Chunk(payload: frame.payload) else { continue }
                    let sum = state.received[chunk.digest, default: 0] + Int64(chunk.bytes.count)
                    state.received[chunk.digest] = sum
                    // Two that wait for the same blob may have it sent twice.
                    if sum == state.sizes[chunk.digest] || state.blobs.contains(chunk.digest) {
                        state.blobs.insert(chunk.digest)
                        answers.append(.stored(StoredBlob(digest: chunk.digest)))
                    }
                }
            }
        }
        for answer in answers { try say(answer) }
    }
}

/// A stream that one consumer after the other may read.
private actor Shared {
    private let stream: AsyncStream<[UInt8]>

    init(_ stream: AsyncStream<[UInt8]>) {
        self.stream = stream
    }

    func next() async -> [UInt8]? {
        for await bytes in stream { return bytes }
        return nil
    }
}
