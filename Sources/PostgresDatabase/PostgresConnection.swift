import CPostgres
import Foundation
import SQLiteDatabase

/// One open connection to a PostgreSQL server.
///
/// It has exactly one owner: the class is not Sendable, so it stays on the thread that opened it. Every call may wait
/// for the network and the server's disk, at most for `Options.answerTimeout`; the owner runs on a thread of its own,
/// never on the cooperative pool.
package final class PostgresConnection {
    /// How a connection is made and used.
    package struct Options: Sendable {
        /// Seconds that connecting may take for each address.
        package var connectTimeout: Int32 = 10
        /// How long a statement may take until its answer is there. After that the connection is given up.
        package var answerTimeout: Duration = .seconds(30)
        /// What the server shows this connection as.
        package var applicationName = "berth"

        package init() {}
    }

    private let pointer: OpaquePointer
    private let answerTimeout: Duration
    private var prepared: [String: String] = [:]

    /// Connects.
    /// - Parameters:
    ///   - conninfo: a connection string of libpq: `host=… dbname=…` or `postgresql://…`.
    ///   - options: see `Options`.
    /// - Throws: `PostgresError`
    package init(_ conninfo: String, options: Options = Options()) throws(PostgresError) {
        let settings: [(String, String)] = [
            ("dbname", conninfo),
            ("connect_timeout", "\(options.connectTimeout)"),
            ("fallback_application_name", options.applicationName),
            ("keepalives_idle", "5"), ("keepalives_interval", "5"), ("keepalives_count", "3"),
            ("client_encoding", "UTF8"),
        ]
        let opened = Self.withCStrings(settings.map(\.0)) { keywords in
            Self.withCStrings(settings.map(\.1)) { values in PQconnectdbParams(keywords, values, 1) }
        }
        guard let opened else {
            throw PostgresError(state: "", message: "no memory for a connection", sql: "connect")
        }
        guard PQstatus(opened) == CONNECTION_OK else {
            let message = Self.trimmed(PQerrorMessage(opened))
            PQfinish(opened)
            throw PostgresError(state: "", message: message, sql: "connect")
        }
        pointer = opened
        answerTimeout = options.answerTimeout
        PQsetnonblocking(pointer, 1)
        // The server's notices are for psql's users.
        PQsetNoticeReceiver(pointer, { _, _ in }, nil)
    }

    deinit {
        PQfinish(pointer)
    }

    /// What a connection string says, by libpq's keywords; empty for one that is none.
    package static func parts(of conninfo: String) -> [String: String] {
        guard let options = PQconninfoParse(conninfo, nil) else { return [:] }
        defer { PQconninfoFree(options) }
        var parts: [String: String] = [:]
        var option = options
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.val { parts[String(cString: keyword)] = String(cString: value) }
            option += 1
        }
        return parts
    }

    /// Runs a statement and gives all its rows. Parameters are `$1`, `$2` …; the statement is prepared once per
    /// connection.
    /// - Throws: `PostgresError`
    package func rows(_ sql: String, _ parameters: [DatabaseValue] = []) throws(PostgresError) -> [DatabaseRow] {
        try run(sql, parameters).rows(sql)
    }

    /// Runs a statement and gives the number of rows it inserted, changed or deleted.
    /// - Throws: `PostgresError`
    @discardableResult
    package func execute(_ sql: String, _ parameters: [DatabaseValue] = []) throws(PostgresError) -> Int {
        try run(sql, parameters).changedRows
    }

    /// Runs several statements without parameters or results, such as a schema.
    /// - Throws: `PostgresError`
    package func executeScript(_ sql: String) throws(PostgresError) {
        guard PQsendQuery(pointer, sql) == 1 else { throw lost(sql) }
        _ = try answers(sql)
    }

    /// Waits until the server says something of its own accord, at most for a time, and gives the payloads of the
    /// notifications that have come.
    /// - Throws: `PostgresError` when the connection is lost.
    package func notifications(waiting timeout: Duration) throws(PostgresError) -> [String] {
        let first = try takeNotifications()
        guard first.isEmpty else { return first }
        _ = wait(POLLIN, until: .now + timeout)
        guard PQconsumeInput(pointer) == 1 else { throw lost("wait for notifications") }
        return try takeNotifications()
    }

    private func takeNotifications() throws(PostgresError) -> [String] {
        var payloads: [String] = []
        while let notification = PQnotifies(pointer) {
            payloads.append(String(cString: notification.pointee.extra))
            PQfreemem(notification)
        }
        return payloads
    }

    private func run(_ sql: String, _ parameters: [DatabaseValue]) throws(PostgresError) -> PostgresResult {
        let name = try prepare(sql)
        let encoded = parameters.map(PostgresParameter.init)
        let sent = PostgresParameter.withPointers(encoded) { values, lengths, formats in
            PQsendQueryPrepared(pointer, name, Int32(encoded.count), values, lengths, formats, 1)
        }
        guard sent == 1 else { throw lost(sql) }
        guard let result = try answers(sql).last else { throw lost(sql) }
        return result
    }

    private func prepare(_ sql: String) throws(PostgresError) -> String {
        if let known = prepared[sql] { return known }
        let name = "s\(prepared.count)"
        guard PQsendPrepare(pointer, name, sql, 0, nil) == 1 else { throw lost(sql) }
        _ = try answers(sql)
        prepared[sql] = name
        return name
    }

    /// All results of what was sent. The connection cannot be used any more after it was not answered in time.
    private func answers(_ sql: String) throws(PostgresError) -> [PostgresResult] {
        let deadline = ContinuousClock.now + answerTimeout
        var results: [PostgresResult] = []
        var failure: PostgresError?
        while true {
            while PQflush(pointer) == 1 {
                guard wait(POLLOUT | POLLIN, until: deadline) else { throw silent(sql) }
                guard PQconsumeInput(pointer) == 1 else { throw lost(sql) }
            }
            while PQisBusy(pointer) == 1 {
                guard wait(POLLIN, until: deadline) else { throw silent(sql) }
                guard PQconsumeInput(pointer) == 1 else { throw lost(sql) }
            }
            guard let next = PQgetResult(pointer) else { break }
            let result = PostgresResult(next)
            if let error = result.error(sql) { failure = failure ?? error }
            results.append(result)
        }
        if let failure { throw failure }
        return results
    }

    /// False when the time is up.
    private func wait(_ events: Int32, until deadline: ContinuousClock.Instant) -> Bool {
        var descriptor = pollfd(fd: PQsocket(pointer), events: Int16(events), revents: 0)
        while true {
            let left = deadline - .now
            guard left > .zero else { return false }
            let milliseconds = left.components.seconds * 1000 + left.components.attoseconds / 1_000_000_000_000_000
            let ready = poll(&descriptor, 1, Int32(clamping: milliseconds + 1))
            if ready > 0 { return true }
            // A failed poll is told by the next call of libpq.
            if ready < 0, errno != EINTR { return true }
        }
    }

    private func lost(_ sql: String) -> PostgresError {
        PostgresError(state: "", message: Self.trimmed(PQerrorMessage(pointer)), sql: sql)
    }

    private func silent(_ sql: String) -> PostgresError {
        PostgresError(state: "", message: "no answer within \(answerTimeout)", sql: sql)
    }

    static func trimmed(_ text: UnsafePointer<CChar>?) -> String {
        guard let text else { return "" }
        return String(cString: text).trimmingCharacters(in: .whitespacesAndNewlines)
            .replacingOccurrences(of: "\n", with: " ")
    }

    /// Strings as an array that ends with a null pointer.
    private static func withCStrings(
        _ strings: [String],
        _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> OpaquePointer?
    ) -> OpaquePointer? {
        let copies = strings.map { strdup($0) }
        defer { for copy in copies { free(copy) } }
        let pointers = copies.map { $0.map { UnsafePointer($0) } } + [nil]
        return pointers.withUnsafeBufferPointer { $0.baseAddress.flatMap(body) }
    }
}
