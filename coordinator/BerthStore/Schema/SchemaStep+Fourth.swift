extension SchemaStep {
    /// Lanes of a fair queue, and times without reading documents. PostgreSQL begins here, with all of the steps before.
    static let fourth = SchemaStep(
        sqlite: """
            -- The order of a fair queue: runs of one class, submitter and priority wait in one lane.
            CREATE TABLE lane (
                number INTEGER PRIMARY KEY,
                class INTEGER NOT NULL REFERENCES requirement_class (number),
                submitter TEXT NOT NULL,
                priority INTEGER NOT NULL,
                waiting INTEGER NOT NULL DEFAULT 0 CHECK (waiting >= 0),
                UNIQUE (class, submitter, priority)
            ) STRICT;
            CREATE INDEX lane_with_work ON lane (class) WHERE waiting > 0;

            -- How much each submitter has had of the farm, in attempts.
            CREATE TABLE submitter_share (
                submitter TEXT PRIMARY KEY,
                served INTEGER NOT NULL CHECK (served >= 0)
            ) STRICT, WITHOUT ROWID;

            DROP INDEX run_queue;
            ALTER TABLE run ADD COLUMN lane INTEGER REFERENCES lane (number);
            INSERT INTO lane (class, submitter, priority, waiting)
                SELECT run.class, batch.submitter, run.priority, sum(run.state = 'queued')
                FROM run JOIN batch ON batch.number = run.batch GROUP BY run.class, batch.submitter, run.priority;
            UPDATE run SET lane = (SELECT lane.number FROM lane JOIN batch ON batch.submitter = lane.submitter
                WHERE batch.number = run.batch AND lane.class = run.class AND lane.priority = run.priority);
            CREATE INDEX run_queue ON run (lane, number, last_host, state) WHERE state = 'queued';
            CREATE INDEX run_by_end ON run (finished_at DESC, number DESC) WHERE verdict IS NOT NULL;

            CREATE TRIGGER run_begins_to_wait AFTER INSERT ON run WHEN NEW.state = 'queued'
            BEGIN UPDATE lane SET waiting = waiting + 1 WHERE number = NEW.lane; END;
            CREATE TRIGGER run_waits_again AFTER UPDATE OF state ON run WHEN NEW.state = 'queued' AND OLD.state <> 'queued'
            BEGIN UPDATE lane SET waiting = waiting + 1 WHERE number = NEW.lane; END;
            CREATE TRIGGER run_waits_no_more AFTER UPDATE OF state ON run WHEN NEW.state <> 'queued' AND OLD.state = 'queued'
            BEGIN UPDATE lane SET waiting = waiting - 1 WHERE number = NEW.lane; END;

            -- When a path was submitted last, and when an entry was recorded, without reading documents.
            ALTER TABLE pins ADD COLUMN latest_run INTEGER;
            UPDATE pins SET latest_run = (SELECT max(number) FROM run WHERE run.pins = pins.number);
            CREATE INDEX pins_by_run ON pins (latest_run DESC);

            DROP TRIGGER ledger_entries_stay_as_they_are;
            ALTER TABLE ledger_entry ADD COLUMN recorded_at INTEGER NOT NULL DEFAULT 0;
            UPDATE ledger_entry SET recorded_at = json_extract(CAST(bytes AS TEXT), '$.recordedAt');
            CREATE INDEX ledger_entry_by_time ON ledger_entry (recorded_at);
            CREATE TRIGGER ledger_entries_stay_as_they_are BEFORE UPDATE ON ledger_entry
            BEGIN SELECT RAISE(ABORT, 'a ledger entry is never changed'); END;
            """,
        postgres: """
            CREATE TABLE build (
                hex TEXT COLLATE "C" PRIMARY KEY CHECK (length(hex) = 64),
                name TEXT COLLATE "C" NOT NULL,
                description TEXT COLLATE "C" NOT NULL,
                size BIGINT NOT NULL CHECK (size >= 0),
                archived_at BIGINT NOT NULL
            );
            CREATE INDEX build_by_name ON build (name);

            CREATE TABLE case_definition (
                hex TEXT COLLATE "C" PRIMARY KEY CHECK (length(hex) = 64),
                name TEXT COLLATE "C" NOT NULL,
                version BIGINT NOT NULL,
                definition TEXT COLLATE "C" NOT NULL,
                added_at BIGINT NOT NULL
            );
            CREATE INDEX case_by_name ON case_definition (name, version);

            CREATE TABLE host (
                name TEXT COLLATE "C" PRIMARY KEY,
                record TEXT COLLATE "C" NOT NULL,
                term BIGINT NOT NULL DEFAULT 0 CHECK (term >= 0),
                added_at BIGINT NOT NULL
            );

            CREATE TABLE token (
                hex TEXT COLLATE "C" PRIMARY KEY CHECK (length(hex) = 64),
                name TEXT COLLATE "C" NOT NULL UNIQUE,
                role TEXT COLLATE "C" NOT NULL,
                added_at BIGINT NOT NULL
            );

            -- Epochs belong to the device, whichever slot it is in.
            CREATE TABLE device (
                identity TEXT COLLATE "C" PRIMARY KEY,
                highest_epoch BIGINT NOT NULL CHECK (highest_epoch >= 0),
                agent_key TEXT COLLATE "C" CHECK (length(agent_key) = 64)
            );

            CREATE TABLE slot (
                name TEXT COLLATE "C" PRIMARY KEY,
                host TEXT COLLATE "C" NOT NULL REFERENCES host (name),
                device TEXT COLLATE "C" NOT NULL REFERENCES device (identity),
                facts TEXT COLLATE "C" NOT NULL,
                platform TEXT COLLATE "C" NOT NULL,
                os_version TEXT COLLATE "C" NOT NULL,
                os_build TEXT COLLATE "C" NOT NULL,
                features TEXT COLLATE "C" NOT NULL,
                agent_version TEXT COLLATE "C" NOT NULL,
                tools TEXT COLLATE "C" NOT NULL,
                seen_at BIGINT NOT NULL,
                labels TEXT COLLATE "C" NOT NULL DEFAULT '{}'
            );

            -- Equal requirements form a class, so that a claim looks at classes and not at all queued runs.
            CREATE TABLE requirement_class (
                number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
                platform TEXT COLLATE "C" NOT NULL,
                os_version TEXT COLLATE "C" NOT NULL,
                os_build TEXT COLLATE "C" NOT NULL,
                features TEXT COLLATE "C" NOT NULL,
                labels TEXT COLLATE "C" NOT NULL,
                UNIQUE (platform, os_version, os_build, features, labels)
            );

            CREATE TABLE slot_class (
                slot TEXT COLLATE "C" NOT NULL REFERENCES slot (name),
                class BIGINT NOT NULL REFERENCES requirement_class (number),
                PRIMARY KEY (slot, class)
            );

            -- The order of a fair queue: runs of one class, submitter and priority wait in one lane.
            CREATE TABLE lane (
                number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
                class BIGINT NOT NULL REFERENCES requirement_class (number),
                submitter TEXT COLLATE "C" NOT NULL,
                priority BIGINT NOT NULL,
                waiting BIGINT NOT NULL DEFAULT 0 CHECK (waiting >= 0),
                UNIQUE (class, submitter, priority)
            );
            CREATE INDEX lane_with_work ON lane (class) WHERE waiting > 0;

            -- How much each submitter has had of the farm, in attempts.
            CREATE TABLE submitter_share (
                submitter TEXT COLLATE "C" PRIMARY KEY,
                served BIGINT NOT NULL CHECK (served >= 0)
            );

            CREATE TABLE pins (
                number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
                bytes TEXT COLLATE "C" NOT NULL UNIQUE,
                case_hex TEXT COLLATE "C" NOT NULL REFERENCES case_definition (hex),
                latest_run BIGINT
            );
            CREATE INDEX pins_by_run ON pins (latest_run DESC);

            CREATE TABLE pinned_build (
                pins BIGINT NOT NULL REFERENCES pins (number),
                position BIGINT NOT NULL,
                hex TEXT COLLATE "C" NOT NULL REFERENCES build (hex),
                PRIMARY KEY (pins, position)
            );

            CREATE TABLE batch (
                number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
                submitter TEXT COLLATE "C" NOT NULL,
                idempotency_key TEXT COLLATE "C",
                content TEXT COLLATE "C" NOT NULL,
                submitted_at BIGINT NOT NULL,
                name TEXT COLLATE "C",
                replay TEXT COLLATE "C",
                UNIQUE (submitter, idempotency_key)
            );

            CREATE TABLE run (
                number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
                batch BIGINT NOT NULL REFERENCES batch (number),
                pins BIGINT NOT NULL REFERENCES pins (number),
                class BIGINT NOT NULL REFERENCES requirement_class (number),
                priority BIGINT NOT NULL,
                state TEXT COLLATE "C" NOT NULL DEFAULT 'queued'
                    CHECK (state IN ('queued', 'assigned', 'running', 'finished', 'cancelled', 'expired')),
                verdict TEXT COLLATE "C" CHECK (verdict IN ('passed', 'failed', 'flaky', 'unproven', 'cancelled', 'expired')),
                cancel_requested BIGINT NOT NULL DEFAULT 0 CHECK (cancel_requested IN (0, 1)),
                last_host TEXT COLLATE "C",
                submitted_at BIGINT NOT NULL,
                finished_at BIGINT,
                replays BIGINT REFERENCES run (number),
                lane BIGINT NOT NULL REFERENCES lane (number),
                CHECK ((state IN ('finished', 'cancelled', 'expired')) = (verdict IS NOT NULL)),
                CHECK ((verdict IS NULL) = (finished_at IS NULL)),
                CHECK (verdict IS NULL OR (verdict = 'cancelled') = (state = 'cancelled')),
                CHECK (verdict IS NULL OR (verdict = 'expired') = (state = 'expired')),
                CHECK (state <> 'queued' OR cancel_requested = 0)
            );
            CREATE INDEX run_by_batch ON run (batch);
            CREATE INDEX run_queue ON run (lane, number, last_host, state) WHERE state = 'queued';
            CREATE INDEX run_by_end ON run (finished_at DESC, number DESC) WHERE verdict IS NOT NULL;
            CREATE INDEX run_at_work ON run (state) WHERE state IN ('assigned', 'running');

            CREATE TABLE attempt (
                number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
                run BIGINT NOT NULL REFERENCES run (number),
                slot TEXT COLLATE "C" NOT NULL REFERENCES slot (name),
                host TEXT COLLATE "C" NOT NULL REFERENCES host (name),
                device TEXT COLLATE "C" NOT NULL REFERENCES device (identity),
                facts TEXT COLLATE "C" NOT NULL,
                agent_version TEXT COLLATE "C" NOT NULL,
                tools TEXT COLLATE "C" NOT NULL,
                epoch BIGINT NOT NULL CHECK (epoch > 0),
                nonce TEXT COLLATE "C" NOT NULL CHECK (length(nonce) = 32),
                timeout BIGINT NOT NULL CHECK (timeout > 0),
                state TEXT COLLATE "C" NOT NULL DEFAULT 'assigned' CHECK (state IN ('assigned', 'running', 'ended', 'declined')),
                outcome TEXT COLLATE "C" CHECK (outcome IN ('passed', 'failed', 'errored', 'void', 'cancelled', 'lost')),
                cause TEXT COLLATE "C",
                report TEXT COLLATE "C",
                assigned_at BIGINT NOT NULL,
                accepted_at BIGINT,
                ended_at BIGINT,
                UNIQUE (device, epoch),
                CHECK ((state = 'ended') = (outcome IS NOT NULL)),
                CHECK ((state IN ('ended', 'declined')) = (ended_at IS NOT NULL)),
                CHECK (report IS NULL OR outcome <> 'lost')
            );
            CREATE INDEX attempt_by_run ON attempt (run);
            CREATE UNIQUE INDEX one_open_attempt_per_slot ON attempt (slot) WHERE state IN ('assigned', 'running');
            CREATE UNIQUE INDEX one_open_attempt_per_device ON attempt (device) WHERE state IN ('assigned', 'running');
            CREATE UNIQUE INDEX one_open_attempt_per_run ON attempt (run) WHERE state IN ('assigned', 'running');

            -- Results that came after their attempt had been given up: kept, never counted.
            CREATE TABLE superseded_report (
                attempt BIGINT PRIMARY KEY REFERENCES attempt (number),
                report TEXT COLLATE "C" NOT NULL,
                received_at BIGINT NOT NULL
            );

            CREATE TABLE ledger_entry (
                ledger TEXT COLLATE "C" NOT NULL CHECK (ledger IN ('simulator', 'hardware')),
                sequence BIGINT NOT NULL CHECK (sequence > 0),
                attempt BIGINT NOT NULL UNIQUE REFERENCES attempt (number),
                run BIGINT NOT NULL REFERENCES run (number),
                pins BIGINT NOT NULL REFERENCES pins (number),
                outcome TEXT COLLATE "C" NOT NULL,
                deciding BIGINT NOT NULL CHECK ((deciding = 1) = (outcome IN ('passed', 'failed'))),
                bytes BYTEA NOT NULL,
                hex TEXT COLLATE "C" NOT NULL CHECK (length(hex) = 64),
                recorded_at BIGINT NOT NULL,
                PRIMARY KEY (ledger, sequence)
            );
            CREATE INDEX ledger_entry_by_time ON ledger_entry (recorded_at);
            CREATE UNIQUE INDEX one_deciding_entry_per_run ON ledger_entry (run) WHERE deciding = 1;
            CREATE INDEX deciding_entry_by_pins ON ledger_entry (pins, outcome) WHERE deciding = 1;

            CREATE FUNCTION run_moves() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
                IF OLD.state <> NEW.state AND NOT (CASE OLD.state
                    WHEN 'queued' THEN NEW.state IN ('assigned', 'finished', 'cancelled', 'expired')
                    WHEN 'assigned' THEN NEW.state IN ('running', 'queued', 'finished', 'cancelled', 'expired')
                    WHEN 'running' THEN NEW.state IN ('queued', 'finished', 'cancelled', 'expired')
                    ELSE false END)
                THEN RAISE EXCEPTION 'a run cannot move so'; END IF;
                RETURN NEW;
            END $$;
            CREATE TRIGGER run_moves_legally BEFORE UPDATE OF state ON run
                FOR EACH ROW EXECUTE FUNCTION run_moves();

            -- Once a statement, since thousands of runs may join or leave a lane together.
            CREATE FUNCTION runs_begin_to_wait() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
                UPDATE lane SET waiting = waiting + change.count
                FROM (SELECT lane, count(*) AS count FROM added WHERE state = 'queued' GROUP BY lane) AS change
                WHERE number = change.lane;
                RETURN NULL;
            END $$;
            CREATE TRIGGER run_begins_to_wait AFTER INSERT ON run
                REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION runs_begin_to_wait();
            CREATE FUNCTION runs_change() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
                UPDATE lane SET waiting = waiting + change.count
                FROM (SELECT lane, sum(count) AS count FROM (
                        SELECT lane, 1 AS count FROM now WHERE state = 'queued'
                        UNION ALL SELECT lane, -1 FROM before WHERE state = 'queued') AS moved
                    GROUP BY lane HAVING sum(count) <> 0) AS change
                WHERE number = change.lane;
                RETURN NULL;
            END $$;
            CREATE TRIGGER run_waits_or_not AFTER UPDATE ON run
                REFERENCING OLD TABLE AS before NEW TABLE AS now FOR EACH STATEMENT EXECUTE FUNCTION runs_change();

            CREATE FUNCTION attempt_has_its_end() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
                RAISE EXCEPTION 'an attempt that has its end is not changed';
            END $$;
            CREATE TRIGGER attempt_ends_once BEFORE UPDATE ON attempt
                FOR EACH ROW WHEN (OLD.state IN ('ended', 'declined')) EXECUTE FUNCTION attempt_has_its_end();

            CREATE FUNCTION ledger_grows() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
                IF NEW.sequence <> 1 + coalesce((SELECT max(sequence) FROM ledger_entry WHERE ledger = NEW.ledger), 0)
                THEN RAISE EXCEPTION 'a ledger entry must be the next one'; END IF;
                RETURN NEW;
            END $$;
            CREATE TRIGGER ledger_only_grows BEFORE INSERT ON ledger_entry
                FOR EACH ROW EXECUTE FUNCTION ledger_grows();
            CREATE FUNCTION ledger_stays() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
                RAISE EXCEPTION 'a ledger entry is never changed or removed';
            END $$;
            CREATE TRIGGER ledger_entries_stay BEFORE UPDATE OR DELETE ON ledger_entry
                FOR EACH ROW EXECUTE FUNCTION ledger_stays();
            CREATE TRIGGER ledger_stays_whole BEFORE TRUNCATE ON ledger_entry EXECUTE FUNCTION ledger_stays();
            """
    )
}
