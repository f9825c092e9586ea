import BerthArchive
import BerthCore
import BerthSystem
import BerthTestSupport
import Foundation
import Synchronization

/// The coordinator's end of a channel: `berth-agent attach` behind pipes.
final class CoordinatorEnd: Sendable {
    private struct State {
        var messages: [(route: String, message: HostMessage)] = []
        var evidence: [Digest: [UInt8]] = [:]
        var problem: String?
        var isEnded = false
        var renews: Bool
        var requests: UInt64 = 0
    }

    let process: ChildProcess
    private let state: Mutex<State>
    private let input: Mutex<FileDescriptor?>

    init(_ host: AgentHost, renews: Bool) throws {
        let toAttach = try FileDescriptor.pipe()
        let fromAttach = try FileDescriptor.pipe()
        input = Mutex(toAttach.write)
        state = Mutex(State(renews: renews))
        process = try ChildProcess.spawn(
            ProcessSpecification(
                executable: Products.path("berth-agent"),
                arguments: ["attach", "--sockets", host.sockets, "--cache", host.cache],
                environment: host.environment,
                standardInput: .descriptor(toAttach.read.number),
                standardOutput: .descriptor(fromAttach.write.number),
                standardError: .appendingFile(host.root + "/attach.log")
            )
        )
        // An attach that has ended takes nothing more; this process goes on.
        Signals.ignoreBrokenPipes()
        // A login shell's chatter comes first.
        try toAttach.write.write(Array("Welcome to this host\n".utf8) + Frame.preamble)
        let output = fromAttach.read
        Threads.detach(name: "attach output") { self.read(output) }
    }

    /// All messages so far.
    var messages: [HostMessage] { state.withLock { $0.messages.map(\.message) } }
    var routed: [(route: String, message: HostMessage)] { state.withLock { $0.messages } }
    /// Blobs that came up, as far as they came.
    var evidence: [Digest: [UInt8]] { state.withLock { $0.evidence } }

    func renew(_ renews: Bool) { state.withLock { $0.renews = renews } }

    func send(_ message: CoordinatorMessage, to slot: String = "") throws {
        try write(try message.frame(route: slot))
    }

    func write(_ frame: Frame) throws {
        try input.withLock { input in
            guard let input else { throw TestFailure("the input is closed") }
            try input.write(frame.bytes)
        }
    }

    /// Closes the input of `attach`, as sshd does when the coordinator is gone.
    func endInput() { input.withLock { $0 = nil } }

    /// Sends what the host lacks of some builds, as a coordinator does.
    func upload(_ builds: [TestBuild]) async throws {
        var blobs: [Digest: [UInt8]] = [:]
        for build in builds { blobs.merge(try build.blobs()) { old, _ in old } }
        let references = blobs.map { BlobReference(digest: $0.key, size: Int64($0.value.count)) }
        let request = state.withLock { state in
            state.requests += 1
            return state.requests
        }
        try send(.query(BlobQuery(request: request, blobs: references)))
        let missing = try await wait("the answer to a query") { message -> MissingBlobs? in
            if case .missing(let missing) = message, missing.request == request { missing } else { nil }
        }
        try await Threads.run(name: "upload") { [blobs] in
            for blob in missing.missing {
                let bytes = blobs[blob.digest] ?? []
                var offset = Int(blob.have)
                repeat {
                    let part = Array(bytes[offset..<min(offset + Frame.chunkSize, bytes.count)])
                    let chunk = Chunk(digest: blob.digest, offset: UInt64(offset), bytes: part)
                    try self.write(Frame(type: .chunk, route: "", payload: chunk.payload))
                    offset += part.count
                } while offset < bytes.count
            }
        }
        for blob in missing.missing {
            _ = try await wait("\(blob.digest) is stored") { message -> Bool? in
                switch message {
                case .stored(let stored): stored.digest == blob.digest ? true : nil
                case .refused(let refused) where refused.digest == blob.digest: throw TestFailure(refused.reason)
                default: nil
                }
            }
        }
    }

    /// The first message so far or to come of which `pick` makes something.
    func wait<Result>(
        _ event: String,
        within limit: Duration = .seconds(30),
        after start: Int = 0,
        _ pick: (HostMessage) throws -> Result?
    ) async throws -> Result {
        var found: Result?
        try await eventually(event, within: limit) {
            let (messages, problem, isEnded) = state.withLock { ($0.messages, $0.problem, $0.isEnded) }
            for (_, message) in messages.dropFirst(start) {
                found = try pick(message)
                if found != nil { return true }
            }
            if let problem { throw TestFailure("waiting for \(event): \(problem)") }
            if isEnded { throw TestFailure("attach ended while waiting for \(event); it said \(messages)") }
            return false
        }
        guard let found else { throw TestFailure(event) }
        return found
    }

    func agentHello() async throws -> AgentHello {
        try await wait("an agent's hello") { if case .agentHello(let hello) = $0 { hello } else { nil } }
    }

    func report(of attempt: String, within limit: Duration = .seconds(50)) async throws -> AttemptReport {
        try await wait("the result of \(attempt)", within: limit) {
            switch $0 {
            case .result(let report) where report.attempt == attempt: return report
            case .declined(let declination) where declination.attempt == attempt:
                throw TestFailure("declined: \(declination.cause)")
            default: return nil
            }
        }
    }

    /// Ends the channel as a coordinator that goes away, and waits for `attach`.
    func hangUp() async -> Termination {
        process.signalGroup(SIGKILL)
        return await process.wait()
    }

    private func read(_ output: FileDescriptor) {
        var decoder = FrameDecoder(expectsPreamble: true)
        do {
            while true {
                let bytes = try output.read(upTo: 1 << 16)
                if bytes.isEmpty { break }
                decoder.feed(bytes)
                while let frame = try decoder.next() { try take(frame) }
            }
            state.withLock { $0.isEnded = true }
        } catch {
            state.withLock { $0.problem = "\(error)" }
        }
    }

    private func take(_ frame: Frame) throws {
        if frame.type == .chunk {
            guard let chunk = Chunk(payload: frame.payload) else { throw TestFailure("a chunk without header") }
            return state.withLock { state in
                var bytes = state.evidence[chunk.digest] ?? []
                bytes.removeSubrange(min(Int(chunk.offset), bytes.count)...)
                state.evidence[chunk.digest] = bytes + chunk.bytes
            }
        }
        let message = try HostMessage.parse(frame.payload)
        let renews = state.withLock { state in
            state.messages.append((frame.route, message))
            return state.renews
        }
        if case .heartbeat(let heartbeat) = message, renews {
            try send(.renewed(Renewal(sequence: heartbeat.sequence)), to: frame.route)
        }
    }
}
