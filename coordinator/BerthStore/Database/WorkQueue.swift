import Foundation
import Synchronization

/// Threads that work off the store's operations, each with a database session of its own.
///
/// One thread that writes takes what waits into one transaction, so that many callers share one commit. Threads that
/// read take one operation each.
final class WorkQueue: Sendable {
    /// More operations than this waiting are refused.
    static let limit = 10_000
    /// How long a caller waits at most over an unreachable database, or others in the way, before the operation fails.
    private static let patience: Duration = .seconds(20)

    private struct State {
        var waiting = WaitingWork()
        var idleThreads = 0
        var isClosed = false
        var livingThreads = 0
        var closers: [CheckedContinuation<Void, Never>] = []
    }

    /// How long the thread that writes looks for more before it sleeps: who waited for what it has just done often has more
    /// to do at once, and waking a thread takes longer than that.
    private static let lookout: Duration = .microseconds(50)

    /// How many operations have come.
    private let arrivals = Atomic(0)
    private let isWriting: Bool
    private let driver: any StoreDriver
    private let condition = NSCondition()
    // Guarded by `condition`.
    nonisolated(unsafe) private var state = State()

    /// Starts the threads.
    /// - Parameters:
    ///   - driver: opens each thread's session.
    ///   - writing: whether operations change the database; then there is one thread.
    ///   - threads: how many.
    init(_ driver: any StoreDriver, writing: Bool, threads: Int) {
        isWriting = writing
        self.driver = driver
        state.livingThreads = threads
        for number in 1...threads {
            let thread = Thread { [self] in work() }
            thread.name = writing ? "berth store" : "berth store reader \(number)"
            thread.stackSize = 1 << 20
            thread.start()
        }
    }

    /// Runs an operation in a transaction, on disk when this returns.
    func run<Result: Sendable>(
        _ operation: String,
        order: LockOrder = .rows,
        _ body: @escaping @Sendable (any StoreConnection) throws -> Result
    ) async throws(StoreError) -> Result {
        let result = await withCheckedContinuation { continuation in
            add(Operation(operation, order: order, body, continuation))
        }
        return try result.get()
    }

    /// Lets the operations that wait finish, then ends the threads; every later operation fails.
    func close() async {
        await withCheckedContinuation { continuation in
            condition.lock()
            state.isClosed = true
            let isOver = state.livingThreads == 0
            if !isOver { state.closers.append(continuation) }
            condition.broadcast()
            condition.unlock()
            if isOver { continuation.resume() }
        }
    }

    private func add(_ work: any PendingWork) {
        condition.lock()
        let refusal: StoreError? =
            state.isClosed
            ? .closed(operation: work.operation)
            : state.waiting.count >= Self.limit ? .overloaded(operation: work.operation) : nil
        if refusal == nil {
            state.waiting.add(work)
            arrivals.wrappingAdd(1, ordering: .releasing)
            if state.idleThreads > 0 { condition.signal() }
        }
        condition.unlock()
        if let refusal { work.fail(refusal) }
    }

    /// The next group, of at most so many, or nil once the queue is closed and empty.
    private func next(_ limit: Int) -> [any PendingWork]? {
        condition.lock()
        defer { condition.unlock() }
        if isWriting, state.waiting.isEmpty, !state.isClosed { lookOut() }
        while state.waiting.isEmpty {
            if state.isClosed { return nil }
            state.idleThreads += 1
            condition.wait()
            state.idleThreads -= 1
        }
        return state.waiting.take(limit).sorted { $0.order < $1.order }
    }

    /// Waits for an arrival without sleeping, for a moment, without the lock that its caller holds.
    private func lookOut() {
        let before = arrivals.load(ordering: .relaxed)
        condition.unlock()
        let end = ContinuousClock.now + Self.lookout
        while arrivals.load(ordering: .acquiring) == before, ContinuousClock.now < end {}
        condition.lock()
    }

    private func work() {
        var session: (any StoreSession)?
        var size = GroupSize()
        while let group = next(isWriting ? size.limit : 1) {
            guard group.count > 1 else {
                runAlone(group[0], &session)
                continue
            }
            // Nothing of the group is kept if one operation fails, so then each gets a transaction of its own.
            do {
                let opened = try session ?? driver.connect(readOnly: !isWriting)
                session = opened
                var began = ContinuousClock.now
                var worked = began
                try opened.transaction(writing: isWriting) { connection in
                    try holdRows(for: group, connection)
                    began = .now
                    for work in group { try work.perform(in: connection) }
                    worked = .now
                }
                size.learn(group.count, working: worked - began, committing: .now - worked)
                for work in group { work.succeed() }
            } catch StoreFailure.inDoubt(let problem) {
                // What was perhaps done is not done again.
                for work in group {
                    work.fail(.outcomeUnknown(operation: work.operation, problem: problem))
                }
            } catch {
                for work in group { runAlone(work, &session) }
            }
        }
        session = nil
        condition.lock()
        state.livingThreads -= 1
        let closers = state.livingThreads == 0 ? state.closers : []
        if state.livingThreads == 0 { state.closers = [] }
        condition.unlock()
        for closer in closers { closer.resume() }
    }

    /// Groups of several coordinators meet the same lanes in different orders: one after the other, they cannot wait for
    /// each other in a circle, of which the server's own way out costs a second.
    private func holdRows(for group: [any PendingWork], _ connection: any StoreConnection) throws {
        guard isWriting, group.contains(where: \.order.locksRows) else { return }
        try connection.holdExclusively(.rows)
    }

    private func runAlone(_ work: any PendingWork, _ session: inout (any StoreSession)?) {
        let deadline = work.since + Self.patience
        var pause: UInt32 = 10_000
        while true {
            do {
                let opened = try session ?? driver.connect(readOnly: !isWriting)
                session = opened
                try opened.transaction(writing: isWriting) { connection in
                    try holdRows(for: [work], connection)
                    try work.perform(in: connection)
                }
                return work.succeed()
            } catch {
                let mayPass =
                    switch error {
                    case StoreFailure.conflict, StoreFailure.unreachable, StoreError.unreachable: true
                    default: false
                    }
                guard mayPass, ContinuousClock.now < deadline, !isClosed else {
                    return work.fail(StoreError(work.operation, error))
                }
                // Whoever is in this operation's way is not in the way of those behind it.
                if case StoreFailure.conflict = error, waitAgain(work) { return }
                usleep(pause)
                pause = min(pause * 2, 500_000)
            }
        }
    }

    /// Puts an operation behind those that wait.
    /// - Returns: false when none does.
    private func waitAgain(_ work: any PendingWork) -> Bool {
        condition.lock()
        defer { condition.unlock() }
        guard !state.waiting.isEmpty else { return false }
        state.waiting.add(work, alone: true)
        return true
    }

    private var isClosed: Bool {
        condition.lock()
        defer { condition.unlock() }
        return state.isClosed
    }
}
