import BerthCore
import BerthSystem
import SQLiteDatabase

/// The farm's truth: builds, hosts, runs, attempts and the two ledgers in one SQLite database.
///
/// Each operation is one transaction, on disk when it returns, and undone as a whole when it throws. Nobody acts on a
/// change, or is told of it, before that. The actor runs on a thread of its own, since every call may wait for the disk.
package actor Store {
    private let executor: BlockingExecutor
    private let path: String
    private var connection: DatabaseConnection?

    /// How many attempts of a run may end without proof before the run is `unproven`.
    package static let attemptLimit: Int64 = 3
    /// How many runs one batch may have.
    package static let batchLimit = 10_000

    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private init(path: String) {
        executor = BlockingExecutor(name: "berth store")
        self.path = path
    }

    /// Opens the store, making the file (not its folder) and bringing its schema forward as needed. With a size limit
    /// in bytes, whatever would need more throws `.storageFull`.
    ///
    /// - Throws: `StoreError`, for instance `.newerSchema`.
    package static func open(path: String, sizeLimit: Int64? = nil) async throws(StoreError) -> Store {
        let store = Store(path: path)
        try await store.start(sizeLimit: sizeLimit)
        return store
    }

    /// Closes the file; every later call throws `.closed`.
    package func close() {
        connection = nil
    }

    private func start(sizeLimit: Int64?) throws(StoreError) {
        do {
            let connection = try DatabaseConnection(path: path)
            if let sizeLimit {
                let pageSize = try connection.rows("PRAGMA page_size").first?.integer(0) ?? 4096
                _ = try connection.rows("PRAGMA max_page_count = \(max(1, sizeLimit / pageSize))")
            }
            try StoreSchema.bringForward(connection)
            self.connection = connection
        } catch {
            throw StoreError("open the store \(path)", error)
        }
    }

    /// Runs a body as one transaction that may write.
    func change<Result>(
        _ operation: String,
        _ body: (DatabaseConnection) throws -> Result
    ) throws(StoreError) -> Result {
        try perform(operation, .immediate, body)
    }

    /// Runs a body as one transaction that only reads.
    func look<Result>(
        _ operation: String,
        _ body: (DatabaseConnection) throws -> Result
    ) throws(StoreError) -> Result {
        try perform(operation, .deferred, body)
    }

    private func perform<Result>(
        _ operation: String,
        _ mode: DatabaseConnection.TransactionMode,
        _ body: (DatabaseConnection) throws -> Result
    ) throws(StoreError) -> Result {
        guard let connection else { throw .closed(operation: operation) }
        do {
            return try connection.transaction(mode) { try body(connection) }
        } catch {
            throw StoreError(operation, error)
        }
    }
}
