import BerthCore
import SQLiteDatabase

extension Store {
    /// Enrols a host; the very same record again changes nothing.
    /// - Parameters:
    ///   - host: its record.
    ///   - actor: whose wish it is, for the audit; absent for the farm's own set-up.
    ///   - now: milliseconds since 1970.
    /// - Throws: `StoreError.hostTaken` when the name stands for another record.
    package func addHost(_ host: HostRecord, actor: String? = nil, now: Int64) async throws(StoreError) {
        guard SlotName.isValid(host.name) else { throw .invalidName(what: "host", name: host.name) }
        try await change("add host \(host.name)") { connection in
            let added = try connection.execute(
                """
                INSERT INTO host (name, record, added_at) VALUES (?, ?, ?)
                ON CONFLICT (name) DO UPDATE SET record = excluded.record, added_at = excluded.added_at,
                    removed_at = NULL WHERE host.removed_at IS NOT NULL
                """,
                [.text(host.name), .json(host), .integer(now)]
            )
            if added > 0, let actor {
                try Self.enterAudit(
                    "host-added",
                    "host \(host.name)",
                    host.particulars,
                    actor: actor,
                    now: now,
                    connection
                )
            }
            let row = try connection.firstRow("SELECT record FROM host WHERE name = ?", [.text(host.name)])
            guard try row?.json(HostRecord.self, "record") == host else {
                throw StoreError.hostTaken(name: host.name)
            }
        }
    }

    /// All hosts by name.
    package func hosts() async throws(StoreError) -> [HostRecord] {
        try await look("list hosts") { connection in
            try connection.rows("SELECT record FROM host WHERE removed_at IS NULL ORDER BY name")
                .map { try $0.json(HostRecord.self, "record") }
        }
    }

    /// A term for a new connection to a host, above all that were given out before.
    package func nextTerm(host: String) async throws(StoreError) -> UInt64 {
        try await change("give out a term for host \(host)") { [coordinator] connection in
            try Self.requireHeld(host, by: coordinator, connection)
            let row = try connection.rows(
                "UPDATE host SET term = term + 1 WHERE name = ? AND removed_at IS NULL RETURNING term",
                [.text(host)]
            ).first
            guard let row else { throw try Self.unknownHost(host, connection) }
            return UInt64(try row.integer("term"))
        }
    }

    /// Condition on rows of `slot`: that its host was not removed.
    static let isOfPresentHost = "slot.host IN (SELECT name FROM host WHERE removed_at IS NULL)"

    static func unknownHost(_ name: String, _ connection: any StoreConnection) throws -> StoreError {
        let names = try connection.rows("SELECT name FROM host WHERE removed_at IS NULL ORDER BY name").map {
            try $0.text(0)
        }
        return .unknownHost(name: name, known: names)
    }
}
