import BerthCore
import BerthHosts
import BerthStore
import BerthSystem
import Foundation

/// Changing the pinned key of a host, at an operator's word.
extension API {
    /// The hosts with what is known of them now, other keys included.
    func hostViews() async throws -> [HostView] {
        let states = try await store.hostKeyStates()
        return try await farm.hostViews().map { $0.with(keyChange: states[$0.host.name]?.change) }
    }

    /// Accepts another key of a host if it is the one with this fingerprint, or announces it.
    func trust(_ name: String, _ request: HostTrustRequest, caller: String) async throws -> HostTrustView {
        let fingerprint = request.fingerprint
        guard fingerprint.wholeMatch(of: /SHA256:[A-Za-z0-9+\/]{43}/) != nil else {
            throw APIError(
                400,
                "malformed-fingerprint",
                "\(fingerprint.prefix(80).debugDescription) is no fingerprint; write it as ssh-keygen -l prints it, SHA256:…"
            )
        }
        let hosts = try await store.hosts()
        guard let host = hosts.first(where: { $0.name == name }) else {
            throw StoreError.unknownHost(name: name, known: hosts.map(\.name))
        }
        let pinned = StoredHostKey(pinned: try HostKey(line: host.hostKey), of: host)
        if pinned.fingerprint == fingerprint {
            return HostTrustView(host: name, state: .unchanged, pinned: fingerprint)
        }
        if let shown = try await store.hostKeyStates()[name]?.shown, shown.fingerprint == fingerprint {
            return try await pin(shown, insteadOf: pinned, host: name, caller: caller)
        }
        return try await trustUnseen(fingerprint, of: host, pinned: pinned, caller: caller)
    }

    /// Asks a host for its keys, of which no connection has shown one with this fingerprint.
    private func trustUnseen(
        _ fingerprint: String,
        of host: HostRecord,
        pinned: StoredHostKey,
        caller: String
    ) async throws -> HostTrustView {
        var shown: [HostKey] = []
        var problem: String?
        do {
            let endpoint = try SSHEndpoint(host, allowsProxyCommands: allowsProxyCommands)
            shown = try await ssh.showHostKeys(of: endpoint) { $0.fingerprint == fingerprint }
        } catch {
            problem = "\(error)"
        }
        if let key = shown.first(where: { $0.fingerprint == fingerprint }) {
            return try await pin(StoredHostKey(key), insteadOf: pinned, host: host.name, caller: caller)
        }
        let now = Timestamp.now().milliseconds
        guard shown.isEmpty || shown.contains(where: { $0.fingerprint == pinned.fingerprint }) else {
            let list = shown.map(\.description).joined(separator: ", ")
            try await store.enterAudit(
                "host-key-refused",
                "host \(host.name)",
                details: [
                    "pinnedFingerprint": pinned.fingerprint, "givenFingerprint": fingerprint,
                    "shownFingerprints": shown.map(\.fingerprint).joined(separator: " "),
                ],
                actor: caller,
                now: now
            )
            throw APIError(
                409,
                "fingerprint-mismatch",
                "host \(host.name) shows \(list), not \(fingerprint); pinned is \(pinned.fingerprint): nothing was changed. "
                    + "Compare with what `ssh-keygen -lf` prints on the host's own console"
            )
        }
        try await store.expectHostKey(
            fingerprint,
            pinned: pinned.fingerprint,
            host: host.name,
            actor: caller,
            now: now
        )
        await farm.hostChanged(host.name)
        return HostTrustView(host: host.name, state: .expected, pinned: pinned.fingerprint, problem: problem)
    }

    /// Takes back what was announced of a host's next key.
    func withdrawKey(of name: String, caller: String) async throws -> HostTrustView {
        let now = Timestamp.now().milliseconds
        guard let withdrawn = try await store.withdrawHostKey(of: name, actor: caller, now: now) else {
            throw APIError(
                409,
                "no-key-announced",
                "no other key of host \(name) is expected: there is nothing to withdraw"
            )
        }
        await farm.hostChanged(name)
        let host = try await hostViews().first { $0.host.name == name }
        return HostTrustView(host: name, state: .withdrawn, pinned: host?.fingerprint ?? "", former: withdrawn)
    }

    private func pin(
        _ key: StoredHostKey,
        insteadOf pinned: StoredHostKey,
        host: String,
        caller: String
    ) async throws -> HostTrustView {
        let isPinned = try await store.trustHostKey(
            key,
            insteadOf: pinned,
            host: host,
            actor: caller,
            now: Timestamp.now().milliseconds
        )
        guard isPinned else {
            throw APIError(
                409,
                "host-key-replaced",
                "another key of host \(host) was pinned meanwhile: look at `berth host list` and `berth audit`"
            )
        }
        await farm.hostChanged(host)
        return HostTrustView(host: host, state: .trusted, pinned: key.fingerprint, former: pinned.fingerprint)
    }

    // MARK: - What was done

    /// Entries of the audit.
    func audit(_ query: [String: String]) async throws -> HTTPResponse {
        func number(_ name: String) throws -> Int64? {
            guard let text = query[name] else { return nil }
            guard let number = Int64(text), number >= 0 else {
                throw APIError(
                    400,
                    "malformed-parameter",
                    "\(name) needs a whole number from 0, not \(text.prefix(80).debugDescription)"
                )
            }
            return number
        }
        let (since, after) = (try number("since"), try number("after"))
        let standard = since == nil && after == nil ? 100 : AuditEntry.pageLimit
        return Self.json(
            try await store.audit(since: since, after: after, limit: try limit(query["last"], "last") ?? standard)
        )
    }
}
