import BerthCore
import SQLiteDatabase

extension Store {
    /// All entries of a ledger in order, with its head.
    package func ledger(_ kind: DeviceKind) async throws(StoreError) -> (entries: [LedgerEntry], head: LedgerHead) {
        try await look("read the \(kind.rawValue) ledger") { connection in
            let entries = try Self.ledgerBytes(kind, connection).map {
                try CanonicalJSON.decode(LedgerEntry.self, from: $0, document: "ledger entry")
            }
            return (entries, try Self.ledgerHead(kind, connection))
        }
    }

    /// The canonical bytes of a ledger's entries, as stored.
    package func ledgerBytes(_ kind: DeviceKind) async throws(StoreError) -> [[UInt8]] {
        try await look("read the \(kind.rawValue) ledger") { try Self.ledgerBytes(kind, $0) }
    }

    /// Where a ledger ends.
    package func ledgerHead(_ kind: DeviceKind) async throws(StoreError) -> LedgerHead {
        try await look("read the head of the \(kind.rawValue) ledger") { try Self.ledgerHead(kind, $0) }
    }

    private static func ledgerBytes(_ kind: DeviceKind, _ connection: any StoreConnection) throws -> [[UInt8]] {
        try connection.rows(
            "SELECT bytes FROM ledger_entry WHERE ledger = ? ORDER BY sequence",
            [.text(kind.rawValue)]
        ).map { try $0.blob("bytes") }
    }

    static func ledgerHead(_ kind: DeviceKind, _ connection: any StoreConnection) throws -> LedgerHead {
        let last = try connection.firstRow(
            "SELECT sequence, hex FROM ledger_entry WHERE ledger = ? ORDER BY sequence DESC LIMIT 1",
            [.text(kind.rawValue)]
        )
        return LedgerHead(
            ledger: kind,
            length: try last?.integer("sequence") ?? 0,
            head: try last?.digest("hex") ?? LedgerEntry.beginning
        )
    }
}
