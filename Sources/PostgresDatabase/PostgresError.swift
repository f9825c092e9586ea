/// What PostgreSQL, or the way to it, answered to a call that did not succeed.
///
/// Values bound to a statement are never part of it.
package struct PostgresError: Error, Equatable, CustomStringConvertible {
    /// The five characters of the SQL standard that tell what kind of failure it is, such as `40P01`; empty when the
    /// server did not answer at all.
    package let state: String
    package let message: String
    /// The statement, or what was done when there was none (such as connecting).
    package let sql: String

    package init(state: String, message: String, sql: String) {
        self.state = state
        self.message = message
        self.sql = sql
    }

    /// The connection is gone: nothing is known of a statement that was under way.
    package var isConnectionLost: Bool {
        state.isEmpty || state.hasPrefix("08") || state.hasPrefix("57P")
    }

    /// Another transaction was in the way, or made the same row first: the same transaction may succeed when it is begun
    /// again.
    package var isConflict: Bool { ["40001", "40P01", "55P03", "23505"].contains(state) }

    /// The server has no room left, on disk or in memory.
    package var isFull: Bool { state.hasPrefix("53") && state != "53300" }

    package var description: String {
        let code = state.isEmpty ? "" : " \(state)"
        let statement = sql.count > 400 ? "\(sql.prefix(400))…" : sql
        return "PostgreSQL answered\(code) (\(message)) to: \(statement)"
    }
}
