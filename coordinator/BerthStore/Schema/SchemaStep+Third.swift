extension SchemaStep {
    /// The agent's key, pinned at its device's first hello that brings one.
    static let third = SchemaStep(
        sqlite: """
            ALTER TABLE device ADD COLUMN agent_key TEXT CHECK (length(agent_key) = 64);
            """,
        postgres: ""
    )
}
