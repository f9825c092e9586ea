import BerthCore
import BerthHosts
import BerthStore
import BerthSystem

/// Enrolling hosts, and the keys that they show.
extension Farm {
    /// Enrols a host and connects to it.
    /// - Throws: `StoreError`
    func enrol(_ host: HostRecord, by caller: String) async throws(StoreError) {
        try await store.addHost(host, actor: caller, now: Timestamp.now().milliseconds)
        hostChanged(host.name)
    }

    /// Has a host's record read anew: one with another key is connected to anew.
    func hostChanged(_ name: String) {
        holdingsMayHaveChanged.yield()
        changes.publish(.init(.host, name))
    }

    /// A host showed another key than the pinned one.
    /// - Returns: what the operator shall be told.
    func hostShows(_ shown: HostKey, insteadOf pinned: HostKey, record: HostRecord) async -> String {
        let host = record.name
        let problem = HostLinkError.hostKeyChanged(
            host: host,
            pinned: pinned.fingerprint,
            shown: shown.fingerprint
        ).description
        do {
            let isPinned = try await store.hostShows(
                StoredHostKey(shown),
                insteadOf: StoredHostKey(pinned: pinned, of: record),
                host: host,
                now: Timestamp.now().milliseconds
            )
            guard isPinned else { return problem }
            hostChanged(host)
            return "the host shows the key \(shown.fingerprint), which an operator had announced; it is pinned now"
        } catch {
            log.error("Cannot note the key of a host", ["host": host, "problem": "\(error)"])
            return problem
        }
    }

    /// A host showed the pinned key.
    func hostShowsPinnedKey(_ host: String) async {
        do {
            try await store.hostShowsPinnedKey(host)
        } catch {
            log.error("Cannot note the key of a host", ["host": host, "problem": "\(error)"])
        }
    }
}

extension StoredHostKey {
    init(_ key: HostKey) { self.init(line: key.line, fingerprint: key.fingerprint) }

    /// A host's pinned key as its record has it, with a comment perhaps: the store compares it with just that.
    init(pinned key: HostKey, of host: HostRecord) {
        self.init(line: host.hostKey, fingerprint: key.fingerprint)
    }
}
