import BerthCore
import BerthSystem
import Foundation
import Synchronization

/// Stands between sshd and `attach`, and does to whole messages what a bad network and a confused coordinator do: sends
/// old assignments again, results twice, everything late, and loses replies.
package enum FramePipe {
    /// What a connection's pipe is to be like.
    package struct Options: Sendable {
        /// Folder for old assignments and for notes of replies, kept over connections.
        package var memory = ""
        /// Of this connection's chances.
        package var seed: UInt64 = 0
        /// Of a thousand replies, how many are lost after what they answer was done.
        package var lostReplies = 0

        package init() {}
    }

    /// Where the notes of replies are, within the memory.
    package static func replies(in memory: String) -> String { "\(memory)/replies" }

    /// Runs the command and passes frames on until either side ends.
    /// - Parameters:
    ///   - command: program and arguments of `attach`.
    ///   - options: what the pipe is to be like.
    /// - Throws: `SystemError`
    package static func run(_ command: [String], _ options: Options) async throws {
        let (memory, seed) = (options.memory, options.seed)
        Signals.ignoreBrokenPipes()
        try DurableFile.makeFolder(memory)
        let (down, up) = (try FileDescriptor.pipe(), try FileDescriptor.pipe())
        let process = try ChildProcess.spawn(
            ProcessSpecification(
                executable: command[0],
                arguments: Array(command.dropFirst()),
                environment: ProcessInfo.processInfo.environment,
                standardInput: .descriptor(down.read.number),
                standardOutput: .descriptor(up.write.number),
                standardError: .descriptor(2)
            )
        )
        down.read.close()
        up.write.close()
        let joined = JoinedRoutes()
        let toAttach = FrameSink(down.write)
        let toCoordinator = FrameSink(FileDescriptor(adopting: 1))
        let loss = try ReplyLoss(
            permille: options.lostReplies,
            notes: replies(in: memory),
            seed: seed &+ 2
        )
        @Sendable func breakSlot(_ slot: String) {
            // A message that cannot be made is none of the wire's.
            if let farewell = try? ReplyLoss.farewell(slot) { toCoordinator.write([farewell]) }
            Threads.detach(name: "greet \(slot)") {
                usleep(50_000)
                if let greeting = loss.greeting(slot) { toAttach.write([greeting]) }
            }
        }
        Threads.detach(name: "down") {
            pump(FileDescriptor(adopting: 0), toAttach, SeededNumbers(seed: seed)) { frame, numbers in
                guard frame.type == .control else { return [frame] }
                let message = try? CoordinatorMessage.parse(frame.payload)
                switch loss.down(frame, message) {
                case .passes: break
                case .isLost: return []
                case .breaksSlot:
                    breakSlot(frame.route)
                    return []
                }
                switch message {
                case .assign(let assignment): keep(frame, assignment, memory)
                case .renewed where joined.routes.withLock({ $0.remove(frame.route) }) != nil:
                    // Only now an agent takes what it does not know to be old.
                    guard Int.random(in: 0..<100, using: &numbers) < 90,
                        let old = old(frame.route, memory, &numbers)
                    else { break }
                    return [frame, old]
                default: break
                }
                return [frame]
            }
            toAttach.close()
        }
        Threads.detach(name: "up") {
            pump(up.read, toCoordinator, SeededNumbers(seed: seed &+ 1)) { frame, numbers in
                let message = frame.type == .control ? try? HostMessage.parse(frame.payload) : nil
                // Hard, as a network does: what is on its way is gone.
                switch loss.up(frame, message, ends: { exit(1) }) {
                case .passes: break
                case .isLost: return []
                case .breaksSlot:
                    breakSlot(frame.route)
                    return []
                }
                switch message {
                case .agentHello:
                    joined.routes.withLock { _ = $0.insert(frame.route) }
                    resend(frame.route, 20, memory, toAttach, &numbers)
                case .accepted(let reference):
                    release(frame.route, reference, memory)
                    resend(frame.route, 5, memory, toAttach, &numbers)
                case .result:
                    // The slot is free now, and its next assignment is on its way.
                    resend(frame.route, 15, memory, toAttach, &numbers)
                    if Int.random(in: 0..<8, using: &numbers) == 0 { return [frame, frame] }
                default: break
                }
                return [frame]
            }
            toCoordinator.close()
        }
        _ = await process.wait()
        // What it said last is still on its way.
        try? await Task.sleep(for: .milliseconds(200))
    }

    private static func pump(
        _ source: FileDescriptor,
        _ sink: FrameSink,
        _ seeded: SeededNumbers,
        _ body: (Frame, inout SeededNumbers) -> [Frame]
    ) {
        var numbers = seeded
        var decoder = FrameDecoder(expectsPreamble: true)
        var isFirst = true
        while let bytes = try? source.read(upTo: 64 << 10), !bytes.isEmpty {
            decoder.feed(bytes)
            do {
                while let frame = try decoder.next() {
                    if isFirst { sink.begin() }
                    isFirst = false
                    if frame.type == .control, Int.random(in: 0..<40, using: &numbers) == 0 {
                        usleep(UInt32.random(in: 1...80, using: &numbers) * 1000)
                    }
                    sink.write(body(frame, &numbers))
                }
            } catch {
                return
            }
        }
    }

    // MARK: Old assignments

    private static let kept = 8

    private static func keep(_ frame: Frame, _ assignment: Assignment, _ memory: String) {
        // Best effort: what is not kept is not sent again.
        try? DurableFile.replace("\(memory)/\(frame.route).\(assignment.epoch).new", with: frame.bytes)
    }

    /// Only what an agent has taken may come again: no connection brings what another one has lost.
    private static func release(_ route: String, _ reference: AttemptReference, _ memory: String) {
        let name = "\(memory)/\(route).\(reference.epoch % UInt64(kept))"
        try? DurableFile.rename("\(memory)/\(route).\(reference.epoch).new", to: name)
    }

    /// Sends an old assignment again, with a chance in percent.
    private static func resend(
        _ route: String,
        _ chance: Int,
        _ memory: String,
        _ sink: FrameSink,
        _ numbers: inout SeededNumbers
    ) {
        guard Int.random(in: 0..<100, using: &numbers) < chance, let old = old(route, memory, &numbers) else { return }
        sink.write([old])
    }

    private static func old(_ route: String, _ memory: String, _ numbers: inout SeededNumbers) -> Frame? {
        let name = "\(memory)/\(route).\(Int.random(in: 0..<kept, using: &numbers))"
        guard let bytes = try? DurableFile.read(name, limit: 8 << 20) else { return nil }
        var decoder = FrameDecoder(expectsPreamble: false)
        decoder.feed(bytes)
        return try? decoder.next()
    }
}

/// The slots whose agents have said hello and have had no answer to a heartbeat yet.
private final class JoinedRoutes: Sendable {
    let routes = Mutex<Set<String>>([])
}

/// Writes whole frames to a stream from several threads.
private final class FrameSink: Sendable {
    private let lock = NSLock()
    private let stream: FileDescriptor

    init(_ stream: FileDescriptor) { self.stream = stream }

    func begin() { lock.withLock { try? stream.write(Frame.preamble) } }

    /// A stream that is gone takes nothing; the other direction ends by itself then.
    func write(_ frames: [Frame]) {
        lock.withLock { for frame in frames { try? stream.write(frame.bytes) } }
    }

    func close() { lock.withLock { stream.close() } }
}
