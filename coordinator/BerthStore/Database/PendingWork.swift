/// An operation that waits for its transaction, with the caller that waits for its end.
protocol PendingWork: Sendable {
    /// What it does, for messages.
    var operation: String { get }
    /// Where it comes among those that share its transaction.
    var order: LockOrder { get }
    /// Since when its caller waits.
    var since: ContinuousClock.Instant { get }

    /// Does the work and keeps its result; may be called again after a transaction was undone.
    func perform(in connection: any StoreConnection) throws

    /// Gives the caller the result that was kept last; called once, or `fail` is.
    func succeed()

    /// Tells the caller why nothing was done.
    func fail(_ error: StoreError)
}

/// An operation with a result of some type.
final class Operation<Result: Sendable>: PendingWork {
    let operation: String
    let order: LockOrder
    let since = ContinuousClock.now
    private let body: @Sendable (any StoreConnection) throws -> Result
    private let continuation: CheckedContinuation<Swift.Result<Result, StoreError>, Never>
    // Only the thread that runs the transaction touches it, before it resumes the caller.
    nonisolated(unsafe) private var result: Result?

    init(
        _ operation: String,
        order: LockOrder,
        _ body: @escaping @Sendable (any StoreConnection) throws -> Result,
        _ continuation: CheckedContinuation<Swift.Result<Result, StoreError>, Never>
    ) {
        self.operation = operation
        self.order = order
        self.body = body
        self.continuation = continuation
    }

    func perform(in connection: any StoreConnection) throws {
        result = try body(connection)
    }

    func succeed() {
        guard let result else { return fail(.closed(operation: operation)) }
        continuation.resume(returning: .success(result))
    }

    func fail(_ error: StoreError) {
        continuation.resume(returning: .failure(error))
    }
}
