import BerthCore
import SQLiteDatabase

/// Which coordinator acts on which host.
///
/// A host is held for a time, by the database's clock, and the time is renewed. What a coordinator does to slots of a
/// host that it does not hold any more is refused in the same transaction, so that one that was stopped and wakes up
/// does no harm.
extension Store {
    /// What a coordinator holds after a round.
    package struct Holdings: Sendable, Hashable {
        /// The hosts, by name.
        package let hosts: [HostRecord]
        /// Hosts among them that the caller did not hold before this round, whatever it remembers.
        package let taken: Set<String>
        /// All coordinators that are alive, this one among them, by name with their addresses.
        package let coordinators: [String: String]
    }

    /// Renews what a coordinator holds, takes what nobody holds up to its share, and gives up one host that is more
    /// than its share while another coordinator has less.
    /// - Parameters:
    ///   - coordinator: the caller's lasting name.
    ///   - url: where its API is.
    ///   - length: for how long hosts are held, in milliseconds.
    ///   - live: what it knows of the hosts that it holds, for the other coordinators.
    /// - Returns: what it holds now.
    /// - Throws: `StoreError`
    package func hold(
        coordinator: String,
        url: String,
        length: Int64,
        live: [String: String] = [:]
    ) async throws(StoreError) -> Holdings {
        try await change("hold hosts", order: .holdings) { connection in
            try connection.holdExclusively(.holdings)
            let now = try Self.databaseNow(connection)
            try connection.execute(
                """
                INSERT INTO coordinator (name, url, alive_until) VALUES (?, ?, ?)
                ON CONFLICT (name) DO UPDATE SET url = excluded.url, alive_until = excluded.alive_until
                """,
                [.text(coordinator), .text(url), .integer(now + length)]
            )
            let alive = try connection.rows("SELECT * FROM coordinator WHERE alive_until > ?", [.integer(now)])
                .reduce(into: [String: String]()) { $0[try $1.text("name")] = try $1.text("url") }
            let hosts = try connection.rows("SELECT * FROM host WHERE removed_at IS NULL ORDER BY name").map { row in
                let isHeld = try row.integer("held_until") > now
                return HostHolding(
                    record: try row.json(HostRecord.self, "record"),
                    holder: try row.optionalText("holder").flatMap { isHeld || $0 == coordinator ? $0 : nil }
                )
            }
            let mine = HoldingPolicy.share(of: coordinator, hosts: hosts, coordinators: alive.keys.sorted())
            for host in hosts where host.holder == coordinator && !mine.contains(host.record.name) {
                try connection.execute(
                    "UPDATE host SET holder = NULL, held_until = 0 WHERE name = ?",
                    [.text(host.record.name)]
                )
                try connection.announce(.hosts)
            }
            for host in mine {
                try connection.execute(
                    "UPDATE host SET holder = ?, held_until = ?, live = coalesce(?, live) WHERE name = ?",
                    [.text(coordinator), .integer(now + length), .init(live[host]), .text(host)]
                )
            }
            let kept = Set(hosts.filter { $0.holder == coordinator }.map(\.record.name))
            return Holdings(
                hosts: hosts.map(\.record).filter { mine.contains($0.name) },
                taken: mine.subtracting(kept),
                coordinators: alive
            )
        }
    }

    /// Gives up all that a coordinator holds, so that the others need not wait for the end of its time.
    /// - Throws: `StoreError`
    package func letGo(coordinator: String) async throws(StoreError) {
        try await change("let go of hosts", order: .holdings) { connection in
            try connection.execute(
                "UPDATE host SET holder = NULL, held_until = 0 WHERE holder = ?",
                [.text(coordinator)]
            )
            try connection.execute("DELETE FROM coordinator WHERE name = ?", [.text(coordinator)])
            try connection.announce(.hosts)
        }
    }

    /// What other coordinators know of the hosts that they hold: the holder's name and address, and its own words.
    package func othersHoldings(
        of coordinator: String
    ) async throws(StoreError) -> [String: (holder: String, url: String, live: String?)] {
        try await look("list what other coordinators hold") { connection in
            let now = try Self.databaseNow(connection)
            let rows = try connection.rows(
                """
                SELECT host.name, host.holder, coordinator.url, host.live FROM host
                JOIN coordinator ON coordinator.name = host.holder WHERE host.held_until > ? AND host.holder <> ?
                """,
                [.integer(now), .text(coordinator)]
            )
            return try rows.reduce(into: [:]) {
                $0[try $1.text("name")] = (try $1.text("holder"), try $1.text("url"), try $1.optionalText("live"))
            }
        }
    }

    /// Refuses to act on a host that the store's own coordinator does not hold.
    static func requireHeld(
        _ host: String,
        by coordinator: String?,
        _ connection: any StoreConnection
    ) throws {
        guard let coordinator else { return }
        let row = try connection.firstRow(
            "SELECT holder, held_until FROM host WHERE name = ? \(connection.dialect.forShare)",
            [.text(host)]
        )
        guard let row else { throw try unknownHost(host, connection) }
        let holder = try row.optionalText("holder")
        guard holder == coordinator else { throw StoreError.hostNotHeld(host: host, holder: holder) }
    }

    private static func databaseNow(_ connection: any StoreConnection) throws -> Int64 {
        guard let row = try connection.firstRow(connection.dialect.clockQuery) else {
            throw StoreError.damaged(operation: "read the database's clock", problem: "there is no answer")
        }
        return try row.integer(0)
    }
}
