import BerthArchive
import BerthCore
import BerthSystem
import Foundation

/// Queries and chunks from the coordinator, worked off by a thread of its own so that control messages do not wait
/// for the disk.
///
/// Safe to share: all state is read and written under the condition's lock.
final class BlobThread: @unchecked Sendable {
    private enum Work {
        case query(BlobQuery)
        case chunk(Chunk)

        var size: Int {
            switch self {
            case .query(let query): query.blobs.count * 80
            case .chunk(let chunk): chunk.bytes.count
            }
        }
    }

    /// Most bytes that wait for the disk; above it the coordinator's stream is not read on.
    private static let limit = 16 << 20

    private let condition = NSCondition()
    private var waiting: [Work] = []
    private var bytes = 0
    private var isEnded = false

    /// Starts the thread; `tell` sends a message to the coordinator.
    init(cache: BlobDirectory, tell: @escaping @Sendable (HostMessage) -> Void) {
        Threads.detach(name: "blobs") {
            let receiver = BlobReceiver(cache: cache)
            while let work = self.next() {
                let messages =
                    switch work {
                    case .query(let query): receiver.answer(query)
                    case .chunk(let chunk): receiver.take(chunk)
                    }
                for message in messages { tell(message) }
            }
        }
    }

    func add(_ query: BlobQuery) { add(.query(query)) }
    func add(_ chunk: Chunk) { add(.chunk(chunk)) }

    func end() {
        condition.lock()
        isEnded = true
        condition.broadcast()
        condition.unlock()
    }

    private func add(_ work: Work) {
        condition.lock()
        defer { condition.unlock() }
        while bytes > Self.limit, !isEnded { condition.wait() }
        waiting.append(work)
        bytes += work.size
        condition.broadcast()
    }

    private func next() -> Work? {
        condition.lock()
        defer { condition.unlock() }
        while waiting.isEmpty, !isEnded { condition.wait() }
        guard !waiting.isEmpty else { return nil }
        let work = waiting.removeFirst()
        bytes -= work.size
        condition.broadcast()
        return work
    }
}
