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
        let changed = try connection.execute(
            """
            UPDATE run SET state = ?, verdict = ?, finished_at = ?, last_host = coalesce(?, last_host)
            WHERE number = ? AND state = ?
            """,
            [
                .text(moved.run.rawValue), .init(moved.verdict?.rawValue),
                moved.verdict == nil ? .null : .integer(now), .init(host),
                .integer(run.number), .text(run.state.run.rawValue),
            ]
        )
        guard changed == 1 else { throw StoreFailure.conflict("run \(RecordID.run.text(run.number)) was moved") }
        try connection.announce(.run(RecordID.run.text(run.number)))
        if moved.run == .queued { try connection.announce(.work) }
    }
}
