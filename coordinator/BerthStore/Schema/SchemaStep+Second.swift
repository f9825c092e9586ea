extension SchemaStep {
    /// Labels in requirements, names of batches, replays.
    static let second = SchemaStep(
        sqlite: """
            ALTER TABLE slot ADD COLUMN labels TEXT NOT NULL DEFAULT '{}';
            UPDATE slot SET labels = json_object('host', host, 'slot', name, 'model', json_extract(facts, '$.model'),
                'kind', iif(platform IN ('ios-simulator', 'linux-simulated'), 'simulator', 'hardware'),
                'platform', platform);

            -- The labels are part of what makes requirements equal, so the table is made anew.
            PRAGMA defer_foreign_keys = ON;
            CREATE TABLE former_class AS SELECT * FROM requirement_class;
            DROP TABLE requirement_class;
            CREATE TABLE requirement_class (
                number INTEGER PRIMARY KEY,
                platform TEXT NOT NULL,
                os_version TEXT NOT NULL,
                os_build TEXT NOT NULL,
                features TEXT NOT NULL,
                labels TEXT NOT NULL,
                UNIQUE (platform, os_version, os_build, features, labels)
            ) STRICT;
            INSERT INTO requirement_class SELECT number, platform, os_version, os_build, features, '{}' FROM former_class;
            DROP TABLE former_class;

            ALTER TABLE batch ADD COLUMN name TEXT;
            ALTER TABLE batch ADD COLUMN replay TEXT;
            ALTER TABLE run ADD COLUMN replays INTEGER REFERENCES run (number);
            """,
        postgres: ""
    )
}
