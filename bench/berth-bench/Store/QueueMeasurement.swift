import BerthStore
import BerthTestSupport

/// Whether a long queue makes a claim slower.
enum QueueMeasurement {
    private static let claims = 500

    @Sendable static func run(_ options: BenchOptions) async throws -> [BenchRow] {
        let many = options.length(1_000_000, quick: 100_000)
        options.say("queueing \(many) runs")
        let short = try await times(queued: 1_000, options)
        let long = try await times(queued: many, options)
        // Measured once more afterwards, so that a busy moment of the machine does not count for one side only.
        let shortAgain = try await times(queued: 1_000, options)
        return [
            BenchRow(
                "claim p50, \(many) queued runs",
                unit: "ms",
                ours: long.median,
                peer: .init(name: "ours, 1000 queued", value: (short.median + shortAgain.median) / 2),
                target: .atMost(1.5)
            )
        ]
    }

    private static func times(queued: Int, _ options: BenchOptions) async throws -> Samples {
        let store = try await Store.open(
            path: "\(options.folder)/queue-\(queued)-\(Int.random(in: 0...999_999)).sqlite"
        )
        let stage = try await StoreStage(store, slots: claims)
        try await stage.queue(queued)
        var samples = Samples()
        for slot in stage.slots {
            let began = ContinuousClock.now
            _ = try await stage.claim(slot: slot)
            samples.add(ContinuousClock.now - began)
        }
        await store.close()
        return samples
    }
}
