extension SchemaStep {
    /// Parts out of use, reservations, limits, deadlines, what was to blame for attempts without proof.
    static let scheduling = SchemaStep(
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
        CREATE TABLE service_state (
            kind \(text) NOT NULL CHECK (kind IN ('farm', 'host', 'slot')),
            name \(text) NOT NULL CHECK ((kind = 'farm') = (name = '')),
            state \(text) NOT NULL CHECK (state IN ('drained', 'maintenance', 'quarantined')),
            reason \(text) NOT NULL,
            actor \(text) NOT NULL,
            since \(integer) NOT NULL,
            -- When a quarantined slot was given a health check last.
            checked_at \(integer),
            PRIMARY KEY (kind, name),
            CHECK (state <> 'quarantined' OR kind = 'slot')
        )\(end);

        CREATE TABLE reservation (
            number \(serial),
            slot \(text) NOT NULL REFERENCES slot (name),
            batch \(integer) REFERENCES batch (number),
            label \(text),
            until \(integer) NOT NULL,
            reason \(text) NOT NULL,
            actor \(text) NOT NULL,
            made_at \(integer) NOT NULL,
            CHECK ((batch IS NULL) <> (label IS NULL))
        )\(end);
        CREATE INDEX reservation_by_slot ON reservation (slot, until);

        CREATE TABLE run_limit (
            subject \(text) NOT NULL CHECK (subject IN ('submitter', 'label')),
            name \(text) NOT NULL,
            most \(integer) NOT NULL CHECK (most >= 0),
            actor \(text) NOT NULL,
            PRIMARY KEY (subject, name)
        )\(end);

        ALTER TABLE batch ADD COLUMN deadline \(integer);
        ALTER TABLE batch ADD COLUMN expired_at \(integer);
        CREATE INDEX batch_by_deadline ON batch (deadline) WHERE deadline IS NOT NULL AND expired_at IS NULL;
        ALTER TABLE run ADD COLUMN expire_requested \(integer) NOT NULL DEFAULT 0 CHECK (expire_requested IN (0, 1));
        CREATE INDEX run_waiting_in_batch ON run (batch, lane, number) WHERE state = 'queued';

        ALTER TABLE slot ADD COLUMN failures \(integer) NOT NULL DEFAULT 0 CHECK (failures >= 0);
        ALTER TABLE attempt ADD COLUMN retry_class \(text)
            CHECK (retry_class IN ('input', 'device', 'doubt', 'farm'));
        """
    }
}
