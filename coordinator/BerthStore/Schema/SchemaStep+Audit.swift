extension SchemaStep {
    /// What operators did, and keys of hosts that are not, or not yet, the pinned ones.
    static let audit = SchemaStep(
        sqlite: sql(serial: "INTEGER PRIMARY KEY AUTOINCREMENT", integer: "INTEGER", text: "TEXT", end: " STRICT"),
        postgres: sql(
            serial: "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
            integer: "BIGINT",
            text: "TEXT COLLATE \"C\"",
            end: ""
        )
    )

    private static func sql(serial: String, integer: String, text: String, end: String) -> String {
        """
        CREATE TABLE audit (
            number \(serial),
            at \(integer) NOT NULL,
            actor \(text) NOT NULL,
            action \(text) NOT NULL,
            subject \(text) NOT NULL,
            details \(text) NOT NULL
        )\(end);
        CREATE INDEX audit_by_time ON audit (at);

        CREATE TABLE host_key (
            host \(text) PRIMARY KEY REFERENCES host (name),
            -- What the host showed instead of its pinned key.
            shown \(text),
            shown_fingerprint \(text),
            shown_since \(integer),
            -- What an operator said that it will show.
            expected_fingerprint \(text),
            expected_by \(text),
            CHECK ((shown IS NULL) = (shown_fingerprint IS NULL) AND (shown IS NULL) = (shown_since IS NULL)),
            CHECK ((expected_fingerprint IS NULL) = (expected_by IS NULL))
        )\(end);
        """
    }
}
