extension SchemaStep {
    /// Coordinators that share the database, and which of them holds which host.
    static let coordinators = SchemaStep(
        sqlite: sql(integer: "INTEGER", text: "TEXT", end: " STRICT"),
        postgres: sql(integer: "BIGINT", text: "TEXT COLLATE \"C\"", end: "")
    )

    private static func sql(integer: String, text: String, end: String) -> String {
        """
        CREATE TABLE coordinator (
            name \(text) PRIMARY KEY,
            url \(text) NOT NULL,
            -- By the database's clock, in milliseconds since 1970.
            alive_until \(integer) NOT NULL
        )\(end);

        -- Whoever holds a host may act on its slots until then, by the database's clock.
        ALTER TABLE host ADD COLUMN holder \(text);
        ALTER TABLE host ADD COLUMN held_until \(integer) NOT NULL DEFAULT 0;
        -- What the holder knows of the host now, for the others.
        ALTER TABLE host ADD COLUMN live \(text);
        """
    }
}
