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
}
