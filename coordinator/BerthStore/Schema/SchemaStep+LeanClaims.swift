extension SchemaStep {
    /// The same truth with less to write for each claim and release.
    ///
    /// Two indexes go: open attempts lead to the runs at work, and the numbers of a batch's runs to its place in the
    /// queue. In SQLite, `x IN (…)` with more than two values builds a table each time that it is judged, so conditions
    /// that every claim meets are written without it. Conditions change no rows, so the tables' texts are changed in
    /// place, as SQLite's documentation of ALTER TABLE says; attempts are never deleted, so their numbers need no memory.
    static let leanClaims = SchemaStep(
        sqlite: """
            DROP INDEX run_at_work;
            DROP INDEX run_waiting_in_batch;

            DROP TRIGGER run_moves_legally;
            CREATE TRIGGER run_moves_legally BEFORE UPDATE OF state ON run
            WHEN NOT ((NEW.state = 'assigned' AND OLD.state = 'queued')
                OR (NEW.state = 'queued' AND (OLD.state = 'assigned' OR OLD.state = 'running'))
                OR (NEW.state = 'running' AND OLD.state = 'assigned')
                OR ((NEW.state = 'finished' OR NEW.state = 'cancelled' OR NEW.state = 'expired')
                    AND (OLD.state = 'queued' OR OLD.state = 'assigned' OR OLD.state = 'running')))
            BEGIN SELECT RAISE(ABORT, 'a run cannot move so'); END;

            DROP TRIGGER run_waits_again;
            DROP TRIGGER run_waits_no_more;
            CREATE TRIGGER run_waits_or_not AFTER UPDATE OF state ON run
            WHEN (NEW.state = 'queued') <> (OLD.state = 'queued')
            BEGIN
                UPDATE lane SET waiting = waiting + CASE NEW.state WHEN 'queued' THEN 1 ELSE -1 END
                WHERE number = NEW.lane;
            END;

            PRAGMA writable_schema = ON;
            \(rewritten("run", [
                condition("state", ["queued", "assigned", "running", "finished", "cancelled", "expired"]),
                condition("verdict", ["passed", "failed", "flaky", "unproven", "cancelled", "expired"]),
                condition("state", ["finished", "cancelled", "expired"]),
            ]))
            \(rewritten("attempt", [
                condition("state", ["assigned", "running", "ended", "declined"]),
                condition("outcome", ["passed", "failed", "errored", "void", "cancelled", "lost"]),
                condition("retry_class", ["input", "device", "doubt", "farm"]),
                (" AUTOINCREMENT", ""),
            ]))
            PRAGMA writable_schema = RESET;
            """,
        postgres: "DROP INDEX run_at_work; DROP INDEX run_waiting_in_batch;"
    )

    private typealias Change = (old: String, new: String)

    /// A condition as it was written, and as it is written now.
    private static func condition(_ column: String, _ values: [String]) -> Change {
        let list = values.map { "'\($0)'" }.joined(separator: ", ")
        let choice = values.map { "\(column) = '\($0)'" }.joined(separator: " OR ")
        return ("(\(column) IN (\(list)))", "(\(choice))")
    }

    /// Changes a table's text where it is kept.
    private static func rewritten(_ table: String, _ changes: [Change]) -> String {
        func quoted(_ text: String) -> String { "'\(text.replacing("'", with: "''"))'" }
        let text = changes.reduce("sql") { "replace(\($0), \(quoted($1.old)), \(quoted($1.new)))" }
        return "UPDATE sqlite_schema SET sql = \(text) WHERE type = 'table' AND name = '\(table)';"
    }
}
