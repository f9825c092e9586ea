extension SchemaStep {
    /// Builds, hosts, runs, attempts, ledgers.
    static let first = SchemaStep(
        sqlite: """
            CREATE TABLE build (
                hex TEXT PRIMARY KEY CHECK (length(hex) = 64),
                name TEXT NOT NULL,
                description TEXT NOT NULL,
                size INTEGER NOT NULL CHECK (size >= 0),
                archived_at INTEGER NOT NULL
            ) STRICT, WITHOUT ROWID;
            CREATE INDEX build_by_name ON build (name);

            CREATE TABLE case_definition (
                hex TEXT PRIMARY KEY CHECK (length(hex) = 64),
                name TEXT NOT NULL,
                version INTEGER NOT NULL,
                definition TEXT NOT NULL,
                added_at INTEGER NOT NULL
            ) STRICT;
            CREATE INDEX case_by_name ON case_definition (name, version);

            CREATE TABLE host (
                name TEXT PRIMARY KEY,
                record TEXT NOT NULL,
                term INTEGER NOT NULL DEFAULT 0 CHECK (term >= 0),
                added_at INTEGER NOT NULL
            ) STRICT, WITHOUT ROWID;

            CREATE TABLE token (
                hex TEXT PRIMARY KEY CHECK (length(hex) = 64),
                name TEXT NOT NULL UNIQUE,
                role TEXT NOT NULL,
                added_at INTEGER NOT NULL
            ) STRICT, WITHOUT ROWID;

            -- Epochs belong to the device, whichever slot it is in.
            CREATE TABLE device (
                identity TEXT PRIMARY KEY,
                highest_epoch INTEGER NOT NULL CHECK (highest_epoch >= 0)
            ) STRICT, WITHOUT ROWID;

            CREATE TABLE slot (
                name TEXT PRIMARY KEY,
                host TEXT NOT NULL REFERENCES host (name),
                device TEXT NOT NULL REFERENCES device (identity),
                facts TEXT NOT NULL,
                platform TEXT NOT NULL,
                os_version TEXT NOT NULL,
                os_build TEXT NOT NULL,
                features TEXT NOT NULL,
                agent_version TEXT NOT NULL,
                tools TEXT NOT NULL,
                seen_at INTEGER NOT NULL
            ) STRICT, WITHOUT ROWID;

            -- Equal requirements form a class, so that a claim looks at classes and not at all queued runs.
            CREATE TABLE requirement_class (
                number INTEGER PRIMARY KEY,
                platform TEXT NOT NULL,
                os_version TEXT NOT NULL,
                os_build TEXT NOT NULL,
                features TEXT NOT NULL,
                UNIQUE (platform, os_version, os_build, features)
            ) STRICT;

            CREATE TABLE slot_class (
                slot TEXT NOT NULL REFERENCES slot (name),
                class INTEGER NOT NULL REFERENCES requirement_class (number),
                PRIMARY KEY (slot, class)
            ) STRICT, WITHOUT ROWID;

            CREATE TABLE pins (
                number INTEGER PRIMARY KEY,
                bytes TEXT NOT NULL UNIQUE,
                case_hex TEXT NOT NULL REFERENCES case_definition (hex)
            ) STRICT;

            CREATE TABLE pinned_build (
                pins INTEGER NOT NULL REFERENCES pins (number),
                position INTEGER NOT NULL,
                hex TEXT NOT NULL REFERENCES build (hex),
                PRIMARY KEY (pins, position)
            ) STRICT, WITHOUT ROWID;

            CREATE TABLE batch (
                number INTEGER PRIMARY KEY AUTOINCREMENT,
                submitter TEXT NOT NULL,
                idempotency_key TEXT,
                content TEXT NOT NULL,
                submitted_at INTEGER NOT NULL,
                UNIQUE (submitter, idempotency_key)
            ) STRICT;

            CREATE TABLE run (
                number INTEGER PRIMARY KEY AUTOINCREMENT,
                batch INTEGER NOT NULL REFERENCES batch (number),
                pins INTEGER NOT NULL REFERENCES pins (number),
                class INTEGER NOT NULL REFERENCES requirement_class (number),
                priority INTEGER NOT NULL,
                state TEXT NOT NULL DEFAULT 'queued'
                    CHECK (state IN ('queued', 'assigned', 'running', 'finished', 'cancelled', 'expired')),
                verdict TEXT CHECK (verdict IN ('passed', 'failed', 'flaky', 'unproven', 'cancelled', 'expired')),
                cancel_requested INTEGER NOT NULL DEFAULT 0 CHECK (cancel_requested IN (0, 1)),
                last_host TEXT,
                submitted_at INTEGER NOT NULL,
                finished_at INTEGER,
                CHECK ((state IN ('finished', 'cancelled', 'expired')) = (verdict IS NOT NULL)),
                CHECK ((verdict IS NULL) = (finished_at IS NULL)),
                CHECK (verdict IS NULL OR (verdict = 'cancelled') = (state = 'cancelled')),
                CHECK (verdict IS NULL OR (verdict = 'expired') = (state = 'expired')),
                CHECK (state <> 'queued' OR cancel_requested = 0)
            ) STRICT;
            CREATE INDEX run_by_batch ON run (batch);
            CREATE INDEX run_queue ON run (class, priority DESC, number, last_host, state) WHERE state = 'queued';
            CREATE INDEX run_at_work ON run (state) WHERE state IN ('assigned', 'running');

            CREATE TRIGGER run_moves_legally BEFORE UPDATE OF state ON run
            WHEN NOT CASE OLD.state
                WHEN 'queued' THEN NEW.state IN ('assigned', 'finished', 'cancelled', 'expired')
                WHEN 'assigned' THEN NEW.state IN ('running', 'queued', 'finished', 'cancelled', 'expired')
                WHEN 'running' THEN NEW.state IN ('queued', 'finished', 'cancelled', 'expired')
                ELSE 0 END
            BEGIN SELECT RAISE(ABORT, 'a run cannot move so'); END;

            CREATE TABLE attempt (
                number INTEGER PRIMARY KEY AUTOINCREMENT,
                run INTEGER NOT NULL REFERENCES run (number),
                slot TEXT NOT NULL REFERENCES slot (name),
                host TEXT NOT NULL REFERENCES host (name),
                device TEXT NOT NULL REFERENCES device (identity),
                facts TEXT NOT NULL,
                agent_version TEXT NOT NULL,
                tools TEXT NOT NULL,
                epoch INTEGER NOT NULL CHECK (epoch > 0),
                nonce TEXT NOT NULL CHECK (length(nonce) = 32),
                timeout INTEGER NOT NULL CHECK (timeout > 0),
                state TEXT NOT NULL DEFAULT 'assigned' CHECK (state IN ('assigned', 'running', 'ended', 'declined')),
                outcome TEXT CHECK (outcome IN ('passed', 'failed', 'errored', 'void', 'cancelled', 'lost')),
                cause TEXT,
                report TEXT,
                assigned_at INTEGER NOT NULL,
                accepted_at INTEGER,
                ended_at INTEGER,
                UNIQUE (device, epoch),
                CHECK ((state = 'ended') = (outcome IS NOT NULL)),
                CHECK ((state IN ('ended', 'declined')) = (ended_at IS NOT NULL)),
                CHECK (report IS NULL OR outcome <> 'lost')
            ) STRICT;
            CREATE INDEX attempt_by_run ON attempt (run);
            CREATE UNIQUE INDEX one_open_attempt_per_slot ON attempt (slot) WHERE state IN ('assigned', 'running');
            CREATE UNIQUE INDEX one_open_attempt_per_device ON attempt (device) WHERE state IN ('assigned', 'running');
            CREATE UNIQUE INDEX one_open_attempt_per_run ON attempt (run) WHERE state IN ('assigned', 'running');

            CREATE TRIGGER attempt_ends_once BEFORE UPDATE ON attempt WHEN OLD.state IN ('ended', 'declined')
            BEGIN SELECT RAISE(ABORT, 'an attempt that has its end is not changed'); END;

            -- Results that came after their attempt had been given up: kept, never counted.
            CREATE TABLE superseded_report (
                attempt INTEGER PRIMARY KEY REFERENCES attempt (number),
                report TEXT NOT NULL,
                received_at INTEGER NOT NULL
            ) STRICT;

            CREATE TABLE ledger_entry (
                ledger TEXT NOT NULL CHECK (ledger IN ('simulator', 'hardware')),
                sequence INTEGER NOT NULL CHECK (sequence > 0),
                attempt INTEGER NOT NULL UNIQUE REFERENCES attempt (number),
                run INTEGER NOT NULL REFERENCES run (number),
                pins INTEGER NOT NULL REFERENCES pins (number),
                outcome TEXT NOT NULL,
                deciding INTEGER NOT NULL CHECK (deciding = (outcome IN ('passed', 'failed'))),
                bytes BLOB NOT NULL,
                hex TEXT NOT NULL CHECK (length(hex) = 64),
                PRIMARY KEY (ledger, sequence)
            ) STRICT, WITHOUT ROWID;
            CREATE UNIQUE INDEX one_deciding_entry_per_run ON ledger_entry (run) WHERE deciding = 1;
            CREATE INDEX deciding_entry_by_pins ON ledger_entry (pins, outcome) WHERE deciding = 1;

            CREATE TRIGGER ledger_only_grows BEFORE INSERT ON ledger_entry
            WHEN NEW.sequence <> 1 + coalesce((SELECT max(sequence) FROM ledger_entry WHERE ledger = NEW.ledger), 0)
                OR EXISTS (SELECT 1 FROM ledger_entry WHERE attempt = NEW.attempt)
                OR (NEW.deciding AND EXISTS (SELECT 1 FROM ledger_entry WHERE run = NEW.run AND deciding = 1))
            BEGIN SELECT RAISE(ABORT, 'a ledger entry must be the next one, of an attempt not yet recorded'); END;
            CREATE TRIGGER ledger_entries_stay_as_they_are BEFORE UPDATE ON ledger_entry
            BEGIN SELECT RAISE(ABORT, 'a ledger entry is never changed'); END;
            CREATE TRIGGER ledger_entries_stay BEFORE DELETE ON ledger_entry
            BEGIN SELECT RAISE(ABORT, 'a ledger entry is never removed'); END;
            """,
        postgres: ""
    )
}
