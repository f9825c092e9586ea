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
                "INSERT INTO host (name, record, added_at) VALUES (?, ?, ?) ON CONFLICT (name) DO NOTHING",
                [.text(host.name), .json(host), .integer(now)]
            )
            if added > 0, let actor {
                var details = ["address": "\(host.hostName):\(host.port)", "user": host.user, "hostKey": host.hostKey]
                // What runs on the coordinator's machine, and who is trusted on the way.
                details["proxyCommand"] = host.proxyCommand
                details["jump"] = host.jump?.map { "\($0.user)@\($0.hostName):\($0.port) \($0.hostKey)" }
                    .joined(separator: ", ")
                try Self.enterAudit("host-added", "host \(host.name)", details, actor: actor, now: now, connection)
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
            try connection.rows("SELECT record FROM host ORDER BY name").map { try $0.json(HostRecord.self, "record") }
        }
    }

    /// A term for a new connection to a host, above all that were given out before.
    package func nextTerm(host: String) async throws(StoreError) -> UInt64 {
        try await change("give out a term for host \(host)") { [coordinator] connection in
            try Self.requireHeld(host, by: coordinator, connection)
            let row = try connection.rows(
                "UPDATE host SET term = term + 1 WHERE name = ? RETURNING term",
                [.text(host)]
            ).first
            guard let row else { throw try Self.unknownHost(host, connection) }
            return UInt64(try row.integer("term"))
        }
    }

    static func unknownHost(_ name: String, _ connection: any StoreConnection) throws -> StoreError {
        let names = try connection.rows("SELECT name FROM host ORDER BY name").map { try $0.text(0) }
        return .unknownHost(name: name, known: names)
    }
}
