import Foundation
import PostgresDatabase
import SQLiteDatabase

/// A connection to the server that replaces itself when it is lost between transactions.
final class PostgresSession: StoreSession, StoreConnection {
    static let channel = "berth_notice"
    /// How often and how long a lost commit is asked after.
    private static let patience: Duration = .seconds(20)

    private var connection: PostgresConnection?
    private let origin: String
    private let open: () throws(PostgresError) -> PostgresConnection
    private var translated: [String: String] = [:]
    let documents = DecodedDocuments()

    init(
        _ connection: PostgresConnection,
        origin: String,
        reopen open: @escaping () throws(PostgresError) -> PostgresConnection
    ) {
        self.connection = connection
        self.origin = origin
        self.open = open
    }

    func transaction(writing: Bool, _ body: (any StoreConnection) throws -> Void) throws {
        do {
            let connection = try connected()
            try connection.executeScript(writing ? "BEGIN" : "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            let number: Int64?
            do {
                try body(self)
                number = writing ? try Self.transactionNumber(connection) : nil
            } catch {
                documents.forgetNumbers()
                try undo(after: error)
                throw error
            }
            do {
                try connection.executeScript("COMMIT")
            } catch  where error.isConnectionLost {
                self.connection = nil
                guard let number else { return }
                guard try wasCommitted(number, after: error) else { throw error }
            }
        } catch let error as PostgresError {
            documents.forgetNumbers()
            if error.isConnectionLost { connection = nil }
            throw Self.failure(error)
        }
    }

    private func connected() throws(PostgresError) -> PostgresConnection {
        if let connection { return connection }
        let opened = try open()
        connection = opened
        return opened
    }

    private func undo(after error: any Error) throws(PostgresError) {
        if let error = error as? PostgresError, error.isConnectionLost {
            connection = nil
            return
        }
        try connection?.executeScript("ROLLBACK")
    }

    /// The number under which the server knows this transaction; nil for one that has written nothing.
    private static func transactionNumber(_ connection: PostgresConnection) throws(PostgresError) -> Int64? {
        let row = try connection.rows("SELECT pg_current_xact_id_if_assigned()::text::int8").first
        guard case .integer(let number)? = row?.values.first else { return nil }
        return number
    }

    /// Asks the server, on new connections, what became of a transaction whose commit was not answered.
    private func wasCommitted(_ number: Int64, after lost: PostgresError) throws(StoreFailure) -> Bool {
        let deadline = ContinuousClock.now + Self.patience
        var last = lost
        while ContinuousClock.now < deadline {
            do {
                let rows = try connected().rows("SELECT pg_xact_status($1::text::xid8)", [.text("\(number)")])
                switch rows.first?.values.first {
                case .text("committed")?: return true
                case .text("aborted")?: return false
                // The old session has not noticed yet that nobody listens.
                default: break
                }
            } catch {
                connection = nil
                last = error
            }
            usleep(100_000)
        }
        throw StoreFailure.inDoubt("a commit was not answered and the server cannot be asked: \(last.message)")
    }

    // MARK: - Statements

    var dialect: StoreDialect { .postgres }

    func rows(_ sql: String, _ parameters: [DatabaseValue]) throws -> [DatabaseRow] {
        try inTransaction().rows(numbered(sql), parameters)
    }

    func execute(_ sql: String, _ parameters: [DatabaseValue]) throws -> Int {
        try inTransaction().execute(numbered(sql), parameters)
    }

    func insert(_ sql: String, _ parameters: [DatabaseValue]) throws -> Int64 {
        guard let row = try rows(sql + " RETURNING number", parameters).first else {
            throw StoreError.damaged(operation: "insert a row", problem: "the database gave it no number")
        }
        return try row.integer(0)
    }

    func executeScript(_ sql: String) throws {
        try inTransaction().executeScript(sql)
    }

    func holdExclusively(_ name: StoreLock) throws {
        if name == .rows {
            // Others take turns: that somebody has his is no conflict.
            let (long, short) = (PostgresDriver.turnTimeout, PostgresDriver.lockTimeout)
            return try executeScript(
                """
                SET LOCAL lock_timeout = '\(long)'; SELECT pg_advisory_xact_lock(\(name.rawValue));
                SET LOCAL lock_timeout = '\(short)'
                """
            )
        }
        _ = try rows("SELECT 1 AS held FROM (SELECT pg_advisory_xact_lock(?)) AS lock", [.integer(name.rawValue)])
    }

    func holdShared(_ name: StoreLock) throws {
        let lock = "SELECT 1 AS held FROM (SELECT pg_advisory_xact_lock_shared(?)) AS lock"
        _ = try rows(lock, [.integer(name.rawValue)])
    }

    func announce(_ notice: StoreNotice) throws {
        _ = try rows(
            "SELECT 1 AS told FROM (SELECT pg_notify(?, ?)) AS told",
            [.text(Self.channel), .text("\(origin) \(notice.text)")]
        )
    }

    private func inTransaction() throws(PostgresError) -> PostgresConnection {
        guard let connection else {
            throw PostgresError(state: "", message: "the connection was lost", sql: "go on with a transaction")
        }
        return connection
    }

    /// The statement with its parameters written as the server wants them.
    private func numbered(_ sql: String) -> String {
        if let known = translated[sql] { return known }
        let numbered = SQLParameters.numbered(sql)
        translated[sql] = numbered
        return numbered
    }

    private static func failure(_ error: PostgresError) -> StoreFailure {
        if error.isConnectionLost { return .unreachable("\(error)") }
        if error.isConflict { return .conflict("\(error)") }
        return error.isFull ? .full : .refused("\(error)")
    }
}
