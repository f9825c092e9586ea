import BerthCore
import SQLiteDatabase

/// A run as the store has it, ready to be moved.
struct RunRecord: Sendable {
    let number: Int64
    var state: RunStateMachine

    init(number: Int64, state: RunStateMachine) {
        self.number = number
        self.state = state
    }

    /// From a row with `run`, `run_state`, `attempt_state`, `cancel_requested` and `expire_requested`.
    init(_ row: DatabaseRow) throws {
        number = try row.integer("run")
        state = RunStateMachine(
            run: try row.word(RunState.self, "run_state"),
            attempt: try row.word(AttemptState.self, "attempt_state"),
            endRequest: try row.bool("cancel_requested")
                ? .cancel : try row.bool("expire_requested") ? .expire : nil
        )
    }
}

extension Store {
    /// Moves a run by one event, under the condition that nobody moved it since it was read.
    /// - Throws: `RunStateMachine.IllegalMove`; `StoreFailure.conflict` when somebody did.
    static func move(
        _ run: RunRecord,
        _ event: RunStateMachine.Event,
        host: String? = nil,
        now: Int64,
        _ connection: any StoreConnection
    ) throws {
        var moved = run.state
        try moved.apply(event)
        // Columns that stay as they are are not named: each costs a look at the indexes and conditions it is part of.
        var (columns, values) = ("state = ?", [DatabaseValue.text(moved.run.rawValue)])
        if let verdict = moved.verdict {
            columns += ", verdict = ?, finished_at = ?"
            values += [.text(verdict.rawValue), .integer(now)]
        }
        if let host {
            columns += ", last_host = ?"
            values.append(.text(host))
        }
        let changed = try connection.execute(
            "UPDATE run SET \(columns) WHERE number = ? AND state = ?",
            values + [.integer(run.number), .text(run.state.run.rawValue)]
        )
        guard changed == 1 else { throw StoreFailure.conflict("run \(RecordID.run.text(run.number)) was moved") }
        try connection.announce(.run(RecordID.run.text(run.number)))
        if moved.run == .queued { try connection.announce(.work) }
    }
}
