extension SchemaStep {
    /// How many assignments in a row a slot has declined for a reason of its own.
    static let declines = SchemaStep(
        sqlite: "ALTER TABLE slot ADD COLUMN declines INTEGER NOT NULL DEFAULT 0 CHECK (declines >= 0);",
        postgres: "ALTER TABLE slot ADD COLUMN declines BIGINT NOT NULL DEFAULT 0 CHECK (declines >= 0);"
    )
}
