import BerthStore
import BerthTestSupport

/// Durable claims and releases a second, against labgrid and against SQLite with nothing around it.
enum StoreMeasurement {
    @Sendable static func run(_ options: BenchOptions) async throws -> [BenchRow] {
        let rounds = options.length(3, quick: 1)
        let length: Duration = options.length(.seconds(5), quick: .seconds(2))
        var bare: [Double] = []
        var one: [StoreClients.Figures] = []
        var many: [StoreClients.Figures] = []
        var full: [StoreClients.Figures] = []
        var fullMany: [StoreClients.Figures] = []
        for round in 1...rounds {
            options.say("store, round \(round) of \(rounds)")
            bare.append(try await BareSQLite.rate(path: "\(options.folder)/bare-\(round).sqlite", for: length))
            let store = try await Store.open(path: "\(options.folder)/store-\(round).sqlite")
            let stage = try await StoreStage(store, slots: 64)
            try await stage.queue(40_000)
            one.append(try await StoreClients(stage: stage, work: .decline).run(1, for: length))
            many.append(try await StoreClients(stage: stage, work: .decline).run(64, for: length))
            full.append(try await StoreClients(stage: stage, work: .record).run(1, for: length))
            fullMany.append(try await StoreClients(stage: stage, work: .record).run(64, for: length))
            await store.close()
        }
        let labgrid = BenchRow.Peer(
            name: "labgrid, 1 client",
            value: try await Labgrid.rate(clients: 1, for: length, options)
        )
        let busyLabgrid = try await Labgrid.rate(clients: 16, for: length, options)
        let bestLabgrid = BenchRow.Peer(
            name: "labgrid, best of 1 and 16",
            value: [labgrid.value, busyLabgrid].compactMap(\.self).max()
        )
        let sqlite = BenchRow.Peer(name: "bare SQLite, 1 connection", value: median(bare))
        let rate = median(one.map(\.rate))
        let rateOfMany = median(many.map(\.rate))
        let pairs = "pairs/s"
        return [
            BenchRow(
                "claim+release, 64 clients",
                unit: pairs,
                ours: rateOfMany,
                peer: bestLabgrid,
                target: .atLeast(10)
            ),
            BenchRow("claim+release, 1 client", unit: pairs, ours: rate, peer: labgrid),
            BenchRow("claim+release, 1 client", unit: pairs, ours: rate, peer: sqlite, target: .atLeast(0.35)),
            BenchRow("claim+release, 64 clients", unit: pairs, ours: rateOfMany, peer: sqlite, target: .atLeast(1)),
            BenchRow("claim p50, 1 client", unit: "ms", ours: median(one.map(\.claims.median))),
            BenchRow("claim p50, 64 clients", unit: "ms", ours: median(many.map(\.claims.median))),
            BenchRow(
                "claim p99, 64 clients",
                unit: "ms",
                ours: median(many.map(\.claims.p99)),
                peer: .init(name: "ours, 1 client", value: median(one.map(\.claims.p99))),
                target: .atMost(3)
            ),
            BenchRow("claim+accept+record, 1 client", unit: pairs, ours: median(full.map(\.rate)), peer: sqlite),
            BenchRow("claim+accept+record, 64 clients", unit: pairs, ours: median(fullMany.map(\.rate)), peer: sqlite),
        ]
    }

    static func median(_ values: [Double]) -> Double {
        let sorted = values.sorted()
        return sorted.isEmpty ? 0 : sorted[sorted.count / 2]
    }
}
