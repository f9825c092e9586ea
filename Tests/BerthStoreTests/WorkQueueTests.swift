import Synchronization
import Testing

@testable import BerthStore

@Suite("Work queue", .timeLimit(.minutes(1)))
struct WorkQueueTests {
    /// A database that does what it is asked and then cannot say so.
    private struct Doubtful: StoreDriver {
        var name: String { "doubtful" }
        var isShared: Bool { false }
        func connect(readOnly: Bool) throws(StoreError) -> any StoreSession { Session() }
        func attend(isClosed: @Sendable () -> Bool, deliver: @Sendable (StoreNotice?) -> Void) {}

        final class Session: StoreSession {
            private let inner = try? SQLiteDriver(path: ":memory:", sizeLimit: nil).connect(readOnly: false)

            func transaction(writing: Bool, _ body: (any StoreConnection) throws -> Void) throws {
                try inner?.transaction(writing: writing, body)
                throw StoreFailure.inDoubt("the server is away")
            }
        }
    }

    private final class Count: Sendable {
        private let done = Mutex([Int: Int]())
        func note(_ number: Int) { done.withLock { $0[number, default: 0] += 1 } }
        var all: [Int: Int] { done.withLock { $0 } }
    }

    @Test("What was perhaps done is not done again, alone or in a group; its callers are told")
    func inDoubt() async throws {
        let queue = WorkQueue(Doubtful(), writing: true, threads: 1)
        let count = Count()
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<200 {
                group.addTask {
                    await #expect(
                        throws: StoreError.outcomeUnknown(operation: "work", problem: "the server is away")
                    ) {
                        try await queue.run("work") { _ in count.note(number) }
                    }
                }
            }
        }
        #expect(count.all.count == 200 && count.all.values.allSatisfy { $0 == 1 })
        await queue.close()
    }

    private struct Named: PendingWork {
        let operation: String
        var order = LockOrder.rows
        let since = ContinuousClock.now

        func perform(in connection: any StoreConnection) throws {}
        func succeed() {}
        func fail(_ error: StoreError) {}
    }

    @Test("Claims overtake what else waits, and never all of it; who was in others' way comes in its turn, alone")
    func order() {
        var waiting = WaitingWork()
        for number in 1...12 { waiting.add(Named(operation: "result \(number)", order: .ledgers)) }
        waiting.add(Named(operation: "retry"), alone: true)
        for number in 1...12 { waiting.add(Named(operation: "claim \(number)", order: .claims)) }
        var groups: [[String]] = []
        while !waiting.isEmpty { groups.append(waiting.take(8).map(\.operation)) }
        func names(_ kind: String, _ range: ClosedRange<Int>) -> [String] { range.map { "\(kind) \($0)" } }
        #expect(
            groups == [
                names("claim", 1...6) + names("result", 1...2), names("claim", 7...12) + names("result", 3...4),
                names("result", 5...12), ["retry"],
            ]
        )
        #expect(waiting.take(8).isEmpty)
    }

    @Test("On a fast disk few share a commit and nobody waits for many; on a slow one many do")
    func groupSize() {
        var size = GroupSize()
        #expect(size.limit == 128)
        for _ in 0..<50 { size.learn(10, working: .microseconds(750), committing: .microseconds(300)) }
        #expect(size.limit == 8)
        for _ in 0..<50 { size.learn(16, working: .microseconds(1200), committing: .microseconds(3000)) }
        #expect((30...50).contains(size.limit), "\(size.limit)")
        for _ in 0..<50 { size.learn(64, working: .microseconds(4800), committing: .milliseconds(20)) }
        #expect(size.limit == 128)
    }
}
