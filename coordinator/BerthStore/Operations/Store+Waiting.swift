import BerthCore
import SQLiteDatabase

extension Store {
    /// How many runs wait for slots that exist, and which slots those are.
    package func slotsWithWork() async throws(StoreError) -> (waiting: Int, slots: [String]) {
        try await look("look for slots with work") { connection in
            let total = try connection.firstRow(
                "SELECT CAST(coalesce(sum(waiting), 0) AS BIGINT) FROM lane WHERE waiting > 0"
            )
            let waiting = Int(try total?.integer(0) ?? 0)
            guard waiting > 0 else { return (0, []) }
            let slots = try connection.rows(
                """
                SELECT DISTINCT slot_class.slot FROM lane JOIN slot_class ON slot_class.class = lane.class
                WHERE lane.waiting > 0
                """
            )
            return (waiting, try slots.map { try $0.text(0) })
        }
    }
}
