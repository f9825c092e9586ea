import Foundation
import SQLiteDatabase

/// One file on this machine, for one coordinator.
struct SQLiteDriver: StoreDriver {
    let path: String
    /// Bytes beyond which the file does not grow; absent for no limit but the disk's.
    let sizeLimit: Int64?

    var name: String { path }
    var isShared: Bool { false }

    func connect(readOnly: Bool) throws(StoreError) -> any StoreSession {
        do {
            var options = DatabaseConnection.Options()
            options.readOnly = readOnly
            // The queue and the slots are looked at for every claim.
            options.cacheKibibytes = readOnly ? 16 << 10 : 64 << 10
            options.checkpointPages = Self.writersCheckpointPages(path)
            let connection = try DatabaseConnection(path: path, options: options)
            if let sizeLimit, !readOnly {
                let pageSize = try connection.rows("PRAGMA page_size").first?.integer(0) ?? 4096
                _ = try connection.rows("PRAGMA max_page_count = \(max(1, sizeLimit / pageSize))")
            }
            return SQLiteSession(connection)
        } catch {
            throw StoreError("open the store \(path)", SQLiteSession.failure(error))
        }
    }

    /// Moves the write-ahead log into the file beside the writer, whose callers would all wait for it.
    func attend(isClosed: @Sendable () -> Bool, deliver: @Sendable (StoreNotice?) -> Void) {
        var connection: DatabaseConnection?
        while !isClosed() {
            Thread.sleep(forTimeInterval: Self.checkpointPause)
            var status = stat()
            guard stat("\(path)-wal", &status) == 0, status.st_size > Self.checkpointBytes else { continue }
            do {
                let opened = try connection ?? DatabaseConnection(path: path)
                connection = opened
                try opened.checkpoint()
            } catch {
                // The writer, which then does this itself, meets the same and says so to its callers.
                connection = nil
                Thread.sleep(forTimeInterval: 1)
            }
        }
    }

    /// How long the log is left alone between two looks at it, in seconds: what has changed often meanwhile is moved once.
    private static let checkpointPause = 1.0
    /// A log that is longer, or was once, is moved into the file.
    private static let checkpointBytes = 4 << 20

    /// How many pages the log has when the writer moves it itself, while all its callers wait: it goes on growing as long as
    /// nobody pauses. On a small disk it takes an eighth of what is free.
    private static func writersCheckpointPages(_ path: String) -> Int {
        var room = statvfs()
        let folder = (path as NSString).deletingLastPathComponent
        guard statvfs(folder.isEmpty ? "." : folder, &room) == 0 else { return 1_000 }
        let free = Int64(room.f_bavail) * Int64(room.f_frsize)
        return Int(min(max(free / 8 / 4096, 1_000), 32_000))
    }
}

/// A connection to the file.
final class SQLiteSession: StoreSession, StoreConnection {
    private let connection: DatabaseConnection
    let documents = DecodedDocuments()

    init(_ connection: DatabaseConnection) {
        self.connection = connection
    }

    func transaction(writing: Bool, _ body: (any StoreConnection) throws -> Void) throws {
        do {
            try connection.transaction(writing ? .immediate : .deferred) { try body(self) }
        } catch {
            documents.forgetNumbers()
            throw Self.failure(error)
        }
    }

    var dialect: StoreDialect { .sqlite }

    func rows(_ sql: String, _ parameters: [DatabaseValue]) throws -> [DatabaseRow] {
        try connection.rows(sql, parameters)
    }

    func execute(_ sql: String, _ parameters: [DatabaseValue]) throws -> Int {
        try connection.execute(sql, parameters)
    }

    func insert(_ sql: String, _ parameters: [DatabaseValue]) throws -> Int64 {
        // RETURNING would collect the row in a table of its own.
        try connection.execute(sql, parameters)
        return connection.lastInsertedRow
    }

    func executeScript(_ sql: String) throws {
        try connection.executeScript(sql)
    }

    /// A transaction that writes is alone from its beginning.
    func holdExclusively(_ name: StoreLock) {}

    func holdShared(_ name: StoreLock) {}

    /// There is no other coordinator.
    func announce(_ notice: StoreNotice) {}

    /// What SQLite's answer means for the transaction.
    static func failure(_ error: any Error) -> any Error {
        guard let error = error as? DatabaseError else { return error }
        switch error.code.primary {
        case .full: return StoreFailure.full
        case .busy: return StoreFailure.conflict("\(error)")
        default: return StoreFailure.refused("\(error)")
        }
    }
}
