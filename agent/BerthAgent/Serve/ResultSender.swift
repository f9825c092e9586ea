import BerthCore
import BerthSystem
import Foundation

/// Sends kept results over one channel, one after the other: evidence as chunks, then the result, then it waits for
/// the acknowledgement. It has a thread of its own and ends with the channel.
///
/// Safe to share: all state is read and written under the condition's lock.
final class ResultSender: @unchecked Sendable {
    private static let log = Log(component: "agent")
    private static let lane = "results"

    private let results: PendingResults
    private let queue: FrameQueue
    private let slot: String
    private let condition = NSCondition()
    private var waiting: [AttemptReference] = []
    private var unanswered: AttemptReference?
    private var isEnded = false

    init(_ results: PendingResults, queue: FrameQueue, slot: String) {
        self.results = results
        self.queue = queue
        self.slot = slot
    }

    func start() {
        Threads.detach(name: "results \(slot)") { self.run() }
    }

    /// Adds a result; one that waits already is not added again.
    func add(_ attempt: AttemptReference) {
        locked {
            if attempt != unanswered, !waiting.contains(attempt) { waiting.append(attempt) }
            condition.broadcast()
        }
    }

    /// The coordinator has the result.
    func acknowledged(_ attempt: AttemptReference) {
        locked {
            waiting.removeAll { $0 == attempt }
            if unanswered == attempt { unanswered = nil }
            condition.broadcast()
        }
    }

    func end() {
        locked {
            isEnded = true
            condition.broadcast()
        }
    }

    private func run() {
        while let attempt = next() {
            do {
                guard try send(attempt) else { return }
            } catch {
                Self.log.error("a kept result cannot be read", ["attempt": attempt.attempt, "error": "\(error)"])
                acknowledged(attempt)
            }
        }
    }

    private func next() -> AttemptReference? {
        locked {
            while !isEnded, unanswered != nil || waiting.isEmpty { condition.wait() }
            guard !isEnded else { return nil }
            unanswered = waiting.removeFirst()
            return unanswered
        }
    }

    /// - Returns: false when the channel is gone.
    private func send(_ attempt: AttemptReference) throws -> Bool {
        guard let result = try results.result(attempt) else {
            Self.log.error("a result that was journaled is gone", ["attempt": attempt.attempt])
            acknowledged(attempt)
            return true
        }
        for (digest, bytes) in result.blobs.sorted(by: { $0.key < $1.key }) {
            var offset = 0
            // An empty blob has one chunk too.
            repeat {
                let part = bytes[offset..<min(offset + Frame.chunkSize, bytes.count)]
                let chunk = Chunk(digest: digest, offset: UInt64(offset), bytes: Array(part))
                guard queue.put(Frame(type: .chunk, route: slot, payload: chunk.payload), lane: Self.lane) else {
                    return false
                }
                offset += part.count
            } while offset < bytes.count
        }
        return queue.put(HostMessage.resultFrame(result.text, route: slot), lane: Self.lane)
    }

    private func locked<Result>(_ body: () -> Result) -> Result {
        condition.lock()
        defer { condition.unlock() }
        return body()
    }
}
