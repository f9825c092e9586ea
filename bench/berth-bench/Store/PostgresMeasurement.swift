import BerthStore
import BerthTestSupport

/// The same claims and releases in a PostgreSQL server of its own, on a socket; these rows inform only.
enum PostgresMeasurement {
    @Sendable static func run(_ options: BenchOptions) async throws -> [BenchRow] {
        let length: Duration = options.length(.seconds(5), quick: .seconds(2))
        let database = try await TestPostgresServer.started().makeDatabase()
        let store = try await Store.open(postgres: database)
        let stage = try await StoreStage(store, slots: 64)
        try await stage.queue(options.length(40_000, quick: 20_000))
        let one = try await StoreClients(stage: stage, work: .decline).run(1, for: length)
        let many = try await StoreClients(stage: stage, work: .decline).run(64, for: length)
        let full = try await StoreClients(stage: stage, work: .record).run(64, for: length)
        await store.close()
        let unit = "pairs/s"
        return [
            BenchRow("PostgreSQL: claim+release, 1 client", unit: unit, ours: one.rate),
            BenchRow("PostgreSQL: claim+release, 64 clients", unit: unit, ours: many.rate),
            BenchRow("PostgreSQL: claim p99, 64 clients", unit: "ms", ours: many.claims.p99),
            BenchRow("PostgreSQL: claim+accept+record, 64 clients", unit: unit, ours: full.rate),
        ]
    }
}
