import BerthCore
import SQLiteDatabase

/// Who may ask for what.
extension Store {
    /// Enters a token by the digest of its value; the very same again changes nothing.
    /// - Parameters:
    ///   - name: whose it is.
    ///   - hash: the digest of its value.
    ///   - role: one of `TokenRole`'s words.
    ///   - actor: who makes it, for the audit; absent for the first one, which nobody makes.
    ///   - now: milliseconds since 1970.
    /// - Throws: `StoreError.tokenTaken`
    package func addToken(
        name: String,
        hash: Digest,
        role: String,
        actor: String? = nil,
        now: Int64
    ) async throws(StoreError) {
        try await change("add token \(name)") { connection in
            let isNew = try connection.execute(
                "INSERT INTO token (hex, name, role, added_at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
                [.text(hash.hex), .text(name), .text(role), .integer(now)]
            )
            let same = try connection.firstRow(
                "SELECT 1 FROM token WHERE hex = ? AND name = ? AND role = ?",
                [.text(hash.hex), .text(name), .text(role)]
            )
            guard same != nil else { throw StoreError.tokenTaken(name: name) }
            guard let actor, isNew > 0 else { return }
            try Self.enterAudit("token-added", "token \(name)", ["role": role], actor: actor, now: now, connection)
        }
    }

    /// Whose token this is; nil for none of ours.
    package func tokenName(hash: Digest) async throws(StoreError) -> (name: String, role: String)? {
        try await look("look a token up") { connection in
            try connection.firstRow("SELECT name, role FROM token WHERE hex = ?", [.text(hash.hex)])
                .map { (try $0.text("name"), try $0.text("role")) }
        }
    }

    /// All tokens by name.
    package func tokens() async throws(StoreError) -> [TokenView] {
        try await look("list the tokens") { connection in
            try connection.rows("SELECT name, role, added_at FROM token ORDER BY name").map {
                TokenView(name: try $0.text("name"), role: try $0.text("role"), addedAt: try $0.integer("added_at"))
            }
        }
    }

    /// Makes a token worthless. The last one that may operate the farm stays.
    /// - Returns: what it was.
    /// - Throws: `StoreError.unknownToken`, `.lastOperator`
    package func revokeToken(_ name: String, actor: String, now: Int64) async throws(StoreError) -> TokenView {
        try await change("revoke token \(name)") { connection in
            // Two that revoke each other at the same time would leave nobody.
            let rows = try connection.rows("SELECT * FROM token ORDER BY name \(connection.dialect.forUpdate)")
            let all = try rows.map {
                TokenView(name: try $0.text("name"), role: try $0.text("role"), addedAt: try $0.integer("added_at"))
            }
            guard let token = all.first(where: { $0.name == name }) else {
                throw StoreError.unknownToken(name: name, known: all.map(\.name))
            }
            func operates(_ token: TokenView) -> Bool { TokenRole(rawValue: token.role)?.operates ?? false }
            guard !operates(token) || all.count(where: operates) > 1 else {
                throw StoreError.lastOperator(name: name)
            }
            try connection.execute("DELETE FROM token WHERE name = ?", [.text(name)])
            try connection.announce(.tokens)
            try Self.enterAudit(
                "token-revoked",
                "token \(name)",
                ["role": token.role],
                actor: actor,
                now: now,
                connection
            )
            return token
        }
    }

    /// Who submitted a batch, by its ID or that of one of its runs.
    /// - Throws: `StoreError.unknownBatch`, `.unknownRun`
    package func submitter(of id: String) async throws(StoreError) -> String {
        try await look("look who submitted \(id)") { connection in
            if let batch = RecordID.batch.number(id) {
                let row = try connection.firstRow("SELECT submitter FROM batch WHERE number = ?", [.integer(batch)])
                guard let row else { throw StoreError.unknownBatch(id: id) }
                return try row.text(0)
            }
            guard let run = RecordID.run.number(id),
                let row = try connection.firstRow(
                    "SELECT batch.submitter FROM run JOIN batch ON batch.number = run.batch WHERE run.number = ?",
                    [.integer(run)]
                )
            else { throw StoreError.unknownRun(id: id) }
            return try row.text(0)
        }
    }
}
