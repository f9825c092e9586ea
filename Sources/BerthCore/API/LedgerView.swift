/// A ledger as the API shows it.
package struct LedgerView: Sendable, Hashable, Codable {
    package let head: LedgerHead
    package let entries: [LedgerEntry]

    package init(head: LedgerHead, entries: [LedgerEntry]) {
        self.head = head
        self.entries = entries
    }
}
