import BerthCore
import SQLiteDatabase

/// Changing and removing hosts.
extension Store {
    /// Changes how a host is reached.
    /// - Parameters:
    ///   - name: the host's.
    ///   - change: what is to be different.
    ///   - actor: whose wish it is.
    ///   - now: milliseconds since 1970.
    /// - Returns: the record as it is now.
    /// - Throws: `StoreError.unknownHost`
    package func changeHost(
        _ name: String,
        _ change: HostChange,
        actor: String,
        now: Int64
    ) async throws(StoreError) -> HostRecord {
        try await self.change("change host \(name)") { connection in
            let former = try Self.hostRecord(name, connection)
            let record = former.with(change)
            guard record != former else { return record }
            try connection.execute("UPDATE host SET record = ? WHERE name = ?", [.json(record), .text(name)])
            if record.hostKey != former.hostKey {
                try connection.execute("DELETE FROM host_key WHERE host = ?", [.text(name)])
            }
            let (old, new) = (former.particulars, record.particulars)
            let details = Set(old.keys).union(new.keys).reduce(into: [String: String]()) { details, key in
                guard old[key] != new[key] else { return }
                details[key] = "\(old[key] ?? "none") → \(new[key] ?? "none")"
            }
            try Self.enterAudit("host-changed", "host \(name)", details, actor: actor, now: now, connection)
            try connection.announce(.hosts)
            return record
        }
    }

    /// Removes a host with its slots. What was recorded of them stays. A host of that name may be enrolled again.
    /// - Parameters:
    ///   - name: the host's.
    ///   - actor: whose wish it is.
    ///   - now: milliseconds since 1970.
    /// - Returns: what the host was.
    /// - Throws: `StoreError.unknownHost`, `.hostBusy` while its slots hold attempts
    package func removeHost(_ name: String, actor: String, now: Int64) async throws(StoreError) -> HostRecord {
        try await change("remove host \(name)", order: .holdings) { connection in
            // Nobody takes the host, matches runs with its slots or claims one for them meanwhile.
            try connection.holdExclusively(.holdings)
            try connection.holdExclusively(.requirements)
            try connection.holdExclusively(.admission)
            let record = try Self.hostRecord(name, connection)
            let open = try Self.openAttempts("AND attempt.host = ?", [.text(name)], connection)
            guard open.isEmpty else {
                throw StoreError.hostBusy(host: name, attempts: open.map { "\($0.attempt) on \($0.slot)" })
            }
            try connection.execute(
                "UPDATE host SET removed_at = ?, holder = NULL, held_until = 0, live = NULL WHERE name = ?",
                [.integer(now), .text(name)]
            )
            let itsSlots = "IN (SELECT name FROM slot WHERE host = ?)"
            try connection.execute("DELETE FROM slot_class WHERE slot \(itsSlots)", [.text(name)])
            try connection.execute("DELETE FROM reservation WHERE slot \(itsSlots)", [.text(name)])
            try connection.execute(
                "DELETE FROM service_state WHERE kind = 'slot' AND name \(itsSlots)",
                [.text(name)]
            )
            try connection.execute("DELETE FROM service_state WHERE kind = 'host' AND name = ?", [.text(name)])
            try connection.execute("DELETE FROM host_key WHERE host = ?", [.text(name)])
            try Self.enterAudit(
                "host-removed",
                "host \(name)",
                record.particulars,
                actor: actor,
                now: now,
                connection
            )
            try connection.announce(.hosts)
            return record
        }
    }
}
