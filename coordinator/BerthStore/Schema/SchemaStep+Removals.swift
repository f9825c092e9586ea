extension SchemaStep {
    /// When a host was removed: its slots' attempts and ledger entries go on naming it.
    static let removals = SchemaStep(
        sqlite: "ALTER TABLE host ADD COLUMN removed_at INTEGER;",
        postgres: "ALTER TABLE host ADD COLUMN removed_at BIGINT;"
    )
}
