import BerthSystem
import SQLiteDatabase

/// The least that a durable claim and its release cost on this disk: one connection, one row, two commits a pair.
enum BareSQLite {
    /// Pairs a second over a time.
    static func rate(path: String, for length: Duration) async throws -> Double {
        try await Threads.run(name: "bare sqlite") {
            let connection = try DatabaseConnection(path: path)
            try connection.executeScript("CREATE TABLE slot (name TEXT PRIMARY KEY, holder TEXT) WITHOUT ROWID")
            for number in 1...64 {
                try connection.execute("INSERT INTO slot (name) VALUES (?)", [.text("slot-\(number)")])
            }
            let start = ContinuousClock.now
            var pairs = 0
            while ContinuousClock.now - start < length {
                let slot = "slot-\(pairs % 64 + 1)"
                let claimed = try connection.transaction {
                    try connection.execute(
                        "UPDATE slot SET holder = ? WHERE name = ? AND holder IS NULL",
                        [.text("client"), .text(slot)]
                    )
                }
                let released = try connection.transaction {
                    try connection.execute(
                        "UPDATE slot SET holder = NULL WHERE name = ? AND holder = ?",
                        [.text(slot), .text("client")]
                    )
                }
                guard claimed == 1, released == 1 else { throw BenchFailure("bare SQLite did not change \(slot)") }
                pairs += 1
            }
            return Double(pairs) / (ContinuousClock.now - start).inSeconds
        }
    }
}
