/// Where a ledger ends: what a gate's output names, so that a cut can be noticed.
package struct LedgerHead: Sendable, Hashable, Codable {
    package let ledger: DeviceKind
    /// Number of entries.
    package let length: Int64
    /// Digest of the last entry's canonical bytes; 64 zeros for an empty ledger.
    package let head: Digest

    package init(ledger: DeviceKind, length: Int64, head: Digest) {
        self.ledger = ledger
        self.length = length
        self.head = head
    }
}
