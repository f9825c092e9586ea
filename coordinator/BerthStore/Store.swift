import BerthCore
import BerthSystem
import Synchronization

/// The farm's truth: builds, hosts, runs, attempts and the two ledgers in one database.
///
/// Each operation is one transaction, on disk when it returns, and undone as a whole when it throws. Nobody acts on a
/// change, or is told of it, before that. Changes of many callers share commits; every operation runs on a thread of
/// the store, since it may wait for the disk or the network.
package final class Store: Sendable {
    private let driver: any StoreDriver
    private let changes: WorkQueue
    private let looks: WorkQueue
    private let isClosed = Atomic(false)
    /// Who uses this store, and must hold the hosts on whose slots it acts; absent where nobody else can.
    let coordinator: String?

    /// How many runs one batch may have.
    package static let batchLimit = 10_000
    /// How many operations that only read go on at once.
    private static let readers = 3

    /// What other coordinators on the same database tell. `nil` says that some of it may have been missed. For one
    /// reader; never ends by itself.
    package let notices: AsyncStream<StoreNotice?>
    private let tell: AsyncStream<StoreNotice?>.Continuation
    // Finished when the thread beside the queues has ended; nothing is ever sent.
    private let attendance: AsyncStream<Void>
    private let attended: AsyncStream<Void>.Continuation

    private init(_ driver: any StoreDriver, _ coordinator: String?) {
        self.driver = driver
        self.coordinator = coordinator
        changes = WorkQueue(driver, writing: true, threads: 1)
        looks = WorkQueue(driver, writing: false, threads: Self.readers)
        (notices, tell) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1024))
        (attendance, attended) = AsyncStream.makeStream()
    }

    /// Whether several coordinators may work on the database at once.
    package var isShared: Bool { driver.isShared }

    /// What the store is called in messages; without secrets.
    package var name: String { driver.name }

    /// Opens a store in a file, making it (not its folder) and bringing its schema forward as needed. With a size limit
    /// in bytes, whatever would need more throws `.storageFull`.
    ///
    /// - Throws: `StoreError`, for instance `.newerSchema`.
    package static func open(path: String, sizeLimit: Int64? = nil) async throws(StoreError) -> Store {
        try await open(SQLiteDriver(path: path, sizeLimit: sizeLimit), nil)
    }

    /// Opens a store in a database of a PostgreSQL server, which several coordinators may share.
    ///
    /// - Parameters:
    ///   - postgres: a connection string of libpq: `host=… dbname=…` or `postgresql://…`.
    ///   - coordinator: whose store this is: what it does to slots of hosts that it does not hold is refused.
    /// - Returns: the open store.
    /// - Throws: `StoreError`, for instance `.newerSchema` or `.unreachable`.
    package static func open(postgres: String, coordinator: String? = nil) async throws(StoreError) -> Store {
        try await open(PostgresDriver(conninfo: postgres), coordinator)
    }

    private static func open(_ driver: any StoreDriver, _ coordinator: String?) async throws(StoreError) -> Store {
        // Whoever closes a file last removes what SQLite keeps beside it, and a full disk may not have room for it again: the
        // first session goes when another one has the file open for good. Set on a thread that has done with it when it is
        // read, and let go by hand, since that thread may hold on to what it was given for a while.
        nonisolated(unsafe) var first: (any StoreSession)?
        defer {
            withExtendedLifetime(first) {}
            first = nil
        }
        // Before there are threads that read: they must not see a half-made schema.
        try await Self.onThread(name: "berth store") { () throws(StoreError) in
            let session = try driver.connect(readOnly: false)
            first = session
            do {
                try StoreSchema.bringForward(session, store: driver.name)
            } catch {
                throw StoreError("open the store \(driver.name)", error)
            }
        }
        let store = Store(driver, coordinator)
        store.attend()
        guard !driver.isShared else { return store }
        do {
            try await store.look("open the store") { _ in }
        } catch {
            await store.close()
            throw error
        }
        return store
    }

    private func attend() {
        Threads.detach(name: "berth store beside") { [self] in
            driver.attend(
                isClosed: { isClosed.load(ordering: .relaxed) },
                deliver: { notice in
                    // What did not fit is missed.
                    if case .dropped = tell.yield(notice) { tell.yield(nil) }
                }
            )
            attended.finish()
        }
    }

    private static func onThread(
        name: String,
        _ body: @escaping @Sendable () throws(StoreError) -> Void
    ) async throws(StoreError) {
        let result: Result<Void, StoreError> = await withCheckedContinuation { continuation in
            Threads.detach(name: name) {
                continuation.resume(returning: Result { () throws(StoreError) in try body() })
            }
        }
        try result.get()
    }

    /// Finishes what waits and closes the database; every later call throws `.closed`.
    package func close() async {
        isClosed.store(true, ordering: .relaxed)
        await changes.close()
        await looks.close()
        // Whoever closes the file last removes its log; a server does not care.
        if !driver.isShared { for await _ in attendance {} }
        tell.finish()
    }

    /// Runs a body in a transaction that may write. It may be run again when the transaction had to be undone, so it
    /// has no effects but on the database.
    func change<Result: Sendable>(
        _ operation: String,
        order: LockOrder = .rows,
        _ body: @escaping @Sendable (any StoreConnection) throws -> Result
    ) async throws(StoreError) -> Result {
        try await changes.run(operation, order: order, body)
    }

    /// Runs a body in a transaction that only reads.
    func look<Result: Sendable>(
        _ operation: String,
        _ body: @escaping @Sendable (any StoreConnection) throws -> Result
    ) async throws(StoreError) -> Result {
        try await looks.run(operation, body)
    }
}
