import BerthSystem
import Foundation
import PostgresDatabase
import SQLiteDatabase

/// A database of a PostgreSQL server, for one coordinator or several.
struct PostgresDriver: StoreDriver {
    /// How long a statement waits for what another transaction holds, as the server writes times.
    static let lockTimeout = "1s"
    /// How long a transaction waits for its turn, longer than one that stands still is left alone.
    static let turnTimeout = "5s"

    /// A connection string of libpq.
    let conninfo: String
    /// Marks this store's own notices.
    private let origin = Hex.encode(RandomBytes.make(8))

    init(conninfo: String) {
        self.conninfo = conninfo
    }

    /// Without a password.
    var name: String {
        let parts = PostgresConnection.parts(of: conninfo)
        let told = ["host", "port", "dbname", "user"].compactMap { key in parts[key].map { "\(key)=\($0)" } }
        return told.isEmpty ? "PostgreSQL" : told.joined(separator: " ")
    }

    var isShared: Bool { true }

    func connect(readOnly: Bool) throws(StoreError) -> any StoreSession {
        do {
            return try PostgresSession(open(), origin: origin) { () throws(PostgresError) in try open() }
        } catch {
            throw StoreError("open the store \(name)", StoreFailure.unreachable("\(error)"))
        }
    }

    private func open() throws(PostgresError) -> PostgresConnection {
        let connection = try PostgresConnection(conninfo)
        // A session that stands still in a transaction must not hold its locks for longer than hosts are held, and who
        // waits for a lock lets others go first soon.
        try connection.executeScript(
            """
            SET statement_timeout = '25s'; SET lock_timeout = '\(Self.lockTimeout)';
            SET idle_in_transaction_session_timeout = '2s'; SET default_transaction_isolation = 'read committed'; SET synchronous_commit = 'on'
            """
        )
        return connection
    }

    func attend(isClosed: @Sendable () -> Bool, deliver: @Sendable (StoreNotice?) -> Void) {
        var isTold = false
        while !isClosed() {
            do {
                let connection = try open()
                try connection.executeScript("LISTEN \(PostgresSession.channel)")
                // What was told before this connection stood is gone.
                deliver(nil)
                isTold = false
                while !isClosed() {
                    for payload in try connection.notifications(waiting: .milliseconds(500)) {
                        let parts = payload.split(separator: " ", maxSplits: 1).map(String.init)
                        guard parts.count == 2, parts[0] != origin, let notice = StoreNotice(parts[1]) else { continue }
                        deliver(notice)
                    }
                }
            } catch {
                if !isTold { Log(component: "store").error("Not told of changes any more", ["problem": "\(error)"]) }
                isTold = true
                Thread.sleep(forTimeInterval: 0.5)
            }
        }
    }
}
