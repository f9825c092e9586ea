import CSQLite

/// One open SQLite database.
///
/// The handle has exactly one owner: the class is not Sendable, so it stays inside the actor or the thread that opened
/// it, and SQLite is told to lock nothing. Every call may block on the disk; the owner runs on a `BlockingExecutor` or
/// a thread of its own, never on the cooperative pool.
package final class DatabaseConnection {
    /// How a database is opened.
    package struct Options: Sendable {
        package var readOnly = false
        /// Write-ahead log: readers do not block the writer.
        package var writeAheadLog = true
        /// Wait for the disk at every commit; without it a power cut may take the last commits.
        package var durable = true
        /// How long a call waits for another process's lock, in milliseconds.
        package var busyTimeoutMilliseconds: Int32 = 5_000
        /// How much of the file is kept in memory, in KiB.
        package var cacheKibibytes = 2_048
        /// After how many pages in the write-ahead log the commit that adds the last also moves them into the file; 0 for
        /// never, when another connection calls `checkpoint`.
        package var checkpointPages = 1_000

        package init() {}
    }

    /// When a transaction takes the write lock.
    package enum TransactionMode: String, Sendable {
        /// At the first write; a later writer may have to start again.
        case deferred = "BEGIN DEFERRED"
        /// At once, so that nothing read in it can change under it.
        case immediate = "BEGIN IMMEDIATE"
    }

    /// The C handle, kept open by the connection and by each of its statements.
    final class Handle {
        let pointer: OpaquePointer

        init(pointer: OpaquePointer) {
            self.pointer = pointer
        }

        deinit {
            sqlite3_close_v2(pointer)
        }

        func error(_ code: Int32, sql: String) -> DatabaseError {
            let extended = sqlite3_extended_errcode(pointer)
            let matches = extended & 0xFF == code & 0xFF
            return DatabaseError(
                code: .init(rawValue: matches ? extended : code),
                message: String(cString: matches ? sqlite3_errmsg(pointer) : sqlite3_errstr(code)),
                sql: sql
            )
        }
    }

    /// SQLite counts what memory it has in use, with a lock at each allocation, for nobody here. A library that is in use
    /// already refuses to change that, which does no harm.
    private static let prepareLibrary: Void = { _ = berth_sqlite_count_no_memory() }()

    package let path: String
    private let handle: Handle
    private var statements: [StatementText: DatabaseStatement] = [:]
    private var depth = 0

    /// Opens the database, making the file if it is not there.
    ///
    /// - Parameters:
    ///   - path: a file, or `:memory:`.
    ///   - options: see `Options`.
    /// - Throws: `DatabaseError`, for instance `.cannotOpen` or `.notADatabase`.
    package init(path: String, options: Options = Options()) throws {
        Self.prepareLibrary
        var pointer: OpaquePointer?
        let access = options.readOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
        let code = sqlite3_open_v2(path, &pointer, access | SQLITE_OPEN_NOMUTEX, nil)
        guard let pointer else {
            throw DatabaseError(code: .init(rawValue: code), message: "no memory", sql: "open \(path)")
        }
        let handle = Handle(pointer: pointer)
        guard code == SQLITE_OK else { throw handle.error(code, sql: "open \(path)") }
        self.path = path
        self.handle = handle
        sqlite3_extended_result_codes(pointer, 1)
        sqlite3_busy_timeout(pointer, options.busyTimeoutMilliseconds)
        try executeScript("PRAGMA foreign_keys = ON")
        try executeScript("PRAGMA cache_size = -\(options.cacheKibibytes)")
        guard !options.readOnly else { return }
        // Some builds let nobody change the texts of tables unless asked; steps of a schema may.
        _ = berth_sqlite_allow_schema_text(pointer)
        try executeScript("PRAGMA wal_autocheckpoint = \(options.checkpointPages)")
        if options.writeAheadLog { try executeScript("PRAGMA journal_mode = WAL") }
        try executeScript("PRAGMA synchronous = \(options.durable ? "FULL" : "OFF")")
    }

    /// The row ID of the last insertion.
    package var lastInsertedRow: Int64 { sqlite3_last_insert_rowid(handle.pointer) }

    /// The number in the file's header that says which schema it has; 0 in a new file.
    package func schemaVersion() throws -> Int64 {
        try rows("PRAGMA user_version").first?.integer(0) ?? 0
    }

    /// Writes the number that says which schema the file has; part of the surrounding transaction.
    package func setSchemaVersion(_ version: Int32) throws {
        try executeScript("PRAGMA user_version = \(version)")
    }

    /// Runs several statements without parameters or results, such as a schema.
    package func executeScript(_ sql: String) throws(DatabaseError) {
        let code = sqlite3_exec(handle.pointer, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw handle.error(code, sql: sql) }
    }

    /// The compiled form of a statement; compiled once per connection.
    package func statement(_ sql: String) throws -> DatabaseStatement {
        let text = StatementText(sql: sql)
        if let known = statements[text] { return known }
        let statement = try DatabaseStatement(connection: handle, sql: sql)
        statements[text] = statement
        return statement
    }

    /// Runs a statement and gives the number of rows it inserted, changed or deleted itself; rows that triggers and
    /// foreign keys changed in turn are not counted.
    @discardableResult
    package func execute(_ sql: String, _ parameters: [DatabaseValue] = []) throws -> Int {
        let before = sqlite3_total_changes64(handle.pointer)
        try statement(sql).forEachRow(parameters) { _ in true }
        guard sqlite3_total_changes64(handle.pointer) != before else { return 0 }
        return Int(sqlite3_changes64(handle.pointer))
    }

    /// Runs a statement and gives all its rows.
    package func rows(_ sql: String, _ parameters: [DatabaseValue] = []) throws -> [DatabaseRow] {
        try statement(sql).rows(parameters)
    }

    /// Runs a statement and gives its first row, if it has one.
    package func firstRow(_ sql: String, _ parameters: [DatabaseValue] = []) throws -> DatabaseRow? {
        var first: DatabaseRow?
        try statement(sql).forEachRow(parameters) { row in
            first = row
            return false
        }
        return first
    }

    /// Runs `body` as one transaction: committed when it returns, undone when it throws.
    ///
    /// A transaction inside another becomes a savepoint of it, undone alone when its body throws.
    package func transaction<Result>(
        _ mode: TransactionMode = .immediate,
        _ body: () throws -> Result
    ) throws -> Result {
        let name = "level_\(depth)"
        try execute(depth == 0 ? mode.rawValue : "SAVEPOINT \(name)")
        depth += 1
        do {
            let result = try body()
            try execute(depth == 1 ? "COMMIT" : "RELEASE \(name)")
            depth -= 1
            return result
        } catch {
            depth -= 1
            try undo(savepoint: depth == 0 ? nil : name)
            throw error
        }
    }

    /// SQLite ends a transaction by itself on some errors (a full disk), and then there is nothing to undo.
    private func undo(savepoint: String?) throws(DatabaseError) {
        guard sqlite3_get_autocommit(handle.pointer) == 0 else { return }
        if let savepoint {
            try executeScript("ROLLBACK TO \(savepoint); RELEASE \(savepoint)")
        } else {
            try executeScript("ROLLBACK")
        }
    }
}
