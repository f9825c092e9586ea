import BerthCore
import SQLiteDatabase

/// What is going on now, and what came last: bounded views for who watches the farm.
extension Store {
    /// The runs that hold a slot, in order.
    package func openRuns() async throws(StoreError) -> [RunView] {
        try await look("list the open runs") {
            // A farm has no more open runs than slots; the limit only bounds the answer.
            let open = "SELECT run FROM attempt WHERE state IN ('assigned', 'running') ORDER BY run LIMIT ?"
            return try Self.runViews("run.number IN (\(open))", 1000, $0)
        }
    }

    /// The runs that wait and are to be assigned next: by priority, then in the order of their submission.
    package func queuedRuns(limit: Int) async throws(StoreError) -> [RunView] {
        try await look("list the queued runs") { connection in
            // The first of each lane, however many wait behind them.
            var first: [(priority: Int64, number: Int64)] = []
            for lane in try connection.rows("SELECT number, priority FROM lane WHERE waiting > 0") {
                let priority = try lane.integer("priority")
                first += try connection.rows(
                    "SELECT number FROM run WHERE lane = ? AND state = 'queued' ORDER BY number LIMIT ?",
                    [try lane.value("number"), .init(limit)]
                ).map { (priority, try $0.integer(0)) }
            }
            first.sort { ($1.priority, $0.number) < ($0.priority, $1.number) }
            return try first.prefix(limit).flatMap { try Self.runViews("run.number = ?", $0.number, connection) }
        }
    }

    /// The runs that have a verdict, the latest first.
    package func finishedRuns(limit: Int) async throws(StoreError) -> [RunView] {
        try await look("list the finished runs") {
            try Self.runViews(
                "run.number IN (\(Self.numbers("verdict IS NOT NULL", "finished_at DESC, number DESC")))",
                Int64(limit),
                $0
            ).sorted { ($0.finishedAt ?? 0) > ($1.finishedAt ?? 0) }
        }
    }

    /// When the run was submitted that has waited longest, in milliseconds since 1970.
    package func oldestQueued() async throws(StoreError) -> Int64? {
        try await look("find the run that has waited longest") {
            try $0.firstRow(
                """
                SELECT min(oldest.submitted_at) FROM lane JOIN run AS oldest ON oldest.number = (
                    SELECT run.number FROM run WHERE run.lane = lane.number AND run.state = 'queued'
                    ORDER BY run.number LIMIT 1)
                WHERE lane.waiting > 0
                """
            )?.optionalInteger(0)
        }
    }

    /// The last entries of a ledger in order, with its head.
    package func ledger(
        _ kind: DeviceKind,
        last count: Int
    ) async throws(StoreError) -> (entries: [LedgerEntry], head: LedgerHead) {
        try await look("read the end of the \(kind.rawValue) ledger") { connection in
            let rows = try connection.rows(
                "SELECT bytes FROM ledger_entry WHERE ledger = ? ORDER BY sequence DESC LIMIT ?",
                [.text(kind.rawValue), .init(count)]
            )
            let entries = try rows.reversed().map {
                try CanonicalJSON.decode(LedgerEntry.self, from: $0.blob("bytes"), document: "ledger entry")
            }
            return (entries, try Self.ledgerHead(kind, connection))
        }
    }

    /// The paths of builds that were submitted last, the latest first, with the names of their builds.
    package func latestPaths(limit: Int) async throws(StoreError) -> [(path: [Digest], buildNames: [String])] {
        try await look("list the latest paths") { connection in
            var found: [[Digest]] = []
            // Pins differ in more than their path, so there are more of them than paths.
            for row in try connection.rows(
                "SELECT bytes FROM pins WHERE latest_run IS NOT NULL ORDER BY latest_run DESC LIMIT ?",
                [.init(limit * 1000)]
            ) {
                let path = try row.json(Pins.self, "bytes").path
                if !found.contains(path) { found.append(path) }
                if found.count == limit { break }
            }
            return try found.map { path in
                let names = try path.map { build in
                    try connection.firstRow("SELECT name FROM build WHERE hex = ?", [.text(build.hex)])?.text("name")
                        ?? build.short
                }
                return (path, names)
            }
        }
    }

    /// A query for the numbers of runs, whose one parameter is its limit.
    private static func numbers(_ condition: String, _ order: String) -> String {
        "SELECT number FROM run WHERE \(condition) ORDER BY \(order) LIMIT ?"
    }
}
