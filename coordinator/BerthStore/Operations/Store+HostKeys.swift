import BerthCore
import SQLiteDatabase

/// Changing the pinned keys of hosts.
extension Store {
    /// What is known of hosts' keys beside the pinned ones, by host; hosts of which nothing is known are left out.
    package func hostKeyStates() async throws(StoreError) -> [String: HostKeyState] {
        try await look("list the keys of hosts") { connection in
            try connection.rows("SELECT * FROM host_key").reduce(into: [:]) {
                $0[try $1.text("host")] = try Self.hostKeyState($1)
            }
        }
    }

    /// Notes that a host shows another key than the pinned one. If an operator has announced just that key, it becomes
    /// the pinned one.
    /// - Parameters:
    ///   - shown: what it shows.
    ///   - pinned: the key that it was expected to show.
    ///   - host: its name.
    ///   - now: milliseconds since 1970.
    /// - Returns: whether the key is the pinned one now.
    /// - Throws: `StoreError.unknownHost`
    package func hostShows(
        _ shown: StoredHostKey,
        insteadOf pinned: StoredHostKey,
        host: String,
        now: Int64
    ) async throws(StoreError) -> Bool {
        try await change("note the key of host \(host)") { connection in
            let record = try Self.hostRecord(host, connection)
            // Somebody was faster.
            guard record.hostKey == pinned.line else { return record.hostKey == shown.line }
            let state = try Self.hostKeyState(of: host, connection)
            if let expected = state?.expected, let actor = state?.expectedBy, expected == shown.fingerprint {
                try Self.pin(shown, insteadOf: pinned, record, actor: actor, wasAnnounced: true, now: now, connection)
                return true
            }
            guard state?.shown != shown else { return false }
            try connection.execute(
                """
                INSERT INTO host_key (host, shown, shown_fingerprint, shown_since) VALUES (?, ?, ?, ?)
                ON CONFLICT (host) DO UPDATE SET shown = excluded.shown,
                    shown_fingerprint = excluded.shown_fingerprint, shown_since = excluded.shown_since
                """,
                [.text(host), .text(shown.line), .text(shown.fingerprint), .integer(now)]
            )
            try connection.announce(.hosts)
            return false
        }
    }

    /// Notes that a host shows its pinned key.
    /// - Throws: `StoreError`
    package func hostShowsPinnedKey(_ host: String) async throws(StoreError) {
        let isNoted = try await look("look at the key of host \(host)") { connection in
            try Self.hostKeyState(of: host, connection)?.shown != nil
        }
        guard isNoted else { return }
        try await change("note the key of host \(host)") { connection in
            try connection.execute(
                "UPDATE host_key SET shown = NULL, shown_fingerprint = NULL, shown_since = NULL WHERE host = ?",
                [.text(host)]
            )
            try connection.announce(.hosts)
        }
    }

    /// Pins another key of a host at an operator's word, and enters that.
    /// - Parameters:
    ///   - key: the new one.
    ///   - pinned: the one that the operator saw pinned.
    ///   - host: its name.
    ///   - actor: whose word it is.
    ///   - now: milliseconds since 1970.
    /// - Returns: false if another key is pinned meanwhile.
    /// - Throws: `StoreError.unknownHost`
    package func trustHostKey(
        _ key: StoredHostKey,
        insteadOf pinned: StoredHostKey,
        host: String,
        actor: String,
        now: Int64
    ) async throws(StoreError) -> Bool {
        try await change("trust a key of host \(host)") { connection in
            let record = try Self.hostRecord(host, connection)
            guard record.hostKey == pinned.line else { return record.hostKey == key.line }
            try Self.pin(key, insteadOf: pinned, record, actor: actor, wasAnnounced: false, now: now, connection)
            return true
        }
    }

    /// Remembers which key a host will show next, at an operator's word, and enters that.
    /// - Parameters:
    ///   - fingerprint: `SHA256:…`
    ///   - pinned: the fingerprint of the pinned key.
    ///   - host: its name.
    ///   - actor: whose word it is.
    ///   - now: milliseconds since 1970.
    /// - Throws: `StoreError.unknownHost`
    package func expectHostKey(
        _ fingerprint: String,
        pinned: String,
        host: String,
        actor: String,
        now: Int64
    ) async throws(StoreError) {
        try await change("expect a key of host \(host)") { connection in
            _ = try Self.hostRecord(host, connection)
            try connection.execute(
                """
                INSERT INTO host_key (host, expected_fingerprint, expected_by) VALUES (?, ?, ?)
                ON CONFLICT (host) DO UPDATE SET expected_fingerprint = excluded.expected_fingerprint,
                    expected_by = excluded.expected_by
                """,
                [.text(host), .text(fingerprint), .text(actor)]
            )
            try Self.enterAudit(
                "host-key-expected",
                "host \(host)",
                ["pinnedFingerprint": pinned, "expectedFingerprint": fingerprint],
                actor: actor,
                now: now,
                connection
            )
            try connection.announce(.hosts)
        }
    }

    /// Takes an announced key back, at an operator's word, and enters that.
    /// - Parameters:
    ///   - host: its name.
    ///   - actor: whose word it is.
    ///   - now: milliseconds since 1970.
    /// - Returns: the fingerprint that was expected; nil if none was.
    /// - Throws: `StoreError.unknownHost`
    package func withdrawHostKey(of host: String, actor: String, now: Int64) async throws(StoreError) -> String? {
        try await change("withdraw the announced key of host \(host)") { connection in
            _ = try Self.hostRecord(host, connection)
            guard let expected = try Self.hostKeyState(of: host, connection)?.expected else { return nil }
            try connection.execute(
                "UPDATE host_key SET expected_fingerprint = NULL, expected_by = NULL WHERE host = ?",
                [.text(host)]
            )
            let details = ["expectedFingerprint": expected]
            try Self.enterAudit("host-key-withdrawn", "host \(host)", details, actor: actor, now: now, connection)
            try connection.announce(.hosts)
            return expected
        }
    }

    private static func pin(
        _ key: StoredHostKey,
        insteadOf pinned: StoredHostKey,
        _ record: HostRecord,
        actor: String,
        wasAnnounced: Bool,
        now: Int64,
        _ connection: any StoreConnection
    ) throws {
        try connection.execute(
            "UPDATE host SET record = ? WHERE name = ?",
            [try .json(record.with(hostKey: key.line)), .text(record.name)]
        )
        try connection.execute("DELETE FROM host_key WHERE host = ?", [.text(record.name)])
        var details = ["oldFingerprint": pinned.fingerprint, "newFingerprint": key.fingerprint]
        if wasAnnounced { details["confirmed"] = "announced before the host showed it" }
        try enterAudit("host-key-trusted", "host \(record.name)", details, actor: actor, now: now, connection)
        try connection.announce(.hosts)
    }

    static func hostRecord(_ host: String, _ connection: any StoreConnection) throws -> HostRecord {
        let row = try connection.firstRow(
            "SELECT record FROM host WHERE name = ? AND removed_at IS NULL \(connection.dialect.forUpdate)",
            [.text(host)]
        )
        guard let row else { throw try unknownHost(host, connection) }
        return try row.json(HostRecord.self, "record")
    }

    private static func hostKeyState(of host: String, _ connection: any StoreConnection) throws -> HostKeyState? {
        try connection.firstRow("SELECT * FROM host_key WHERE host = ?", [.text(host)]).map(hostKeyState)
    }

    private static func hostKeyState(_ row: DatabaseRow) throws -> HostKeyState {
        let fingerprint = try row.optionalText("shown_fingerprint")
        let shown = try row.optionalText("shown").flatMap { line in
            fingerprint.map { StoredHostKey(line: line, fingerprint: $0) }
        }
        return HostKeyState(
            shown: shown,
            shownSince: try row.optionalInteger("shown_since"),
            expected: try row.optionalText("expected_fingerprint"),
            expectedBy: try row.optionalText("expected_by")
        )
    }
}
