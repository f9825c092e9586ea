import BerthSystem

/// What a thousand idle slots cost the coordinator.
enum IdleMeasurement {
    @Sendable static func run(_ options: BenchOptions) async throws -> [BenchRow] {
        let shape = BenchFarm.Shape(hosts: 10, slotsPerHost: options.length(100, quick: 25))
        options.say("connecting \(shape.slots) slots")
        let farm = try await BenchFarm.start(shape, options)
        do {
            // The rush of joining is not idleness.
            try await Task.sleep(for: .seconds(3))
            let length: Duration = options.length(.seconds(30), quick: .seconds(8))
            let before = try ProcessUsage(farm.coordinator.pid)
            let began = ContinuousClock.now
            try await Task.sleep(for: length)
            let after = try ProcessUsage(farm.coordinator.pid)
            let share = (after.processor - before.processor) / (ContinuousClock.now - began).inSeconds * 100
            await farm.stop()
            let name = "\(shape.slots) idle slots on \(shape.hosts) hosts"
            return [
                BenchRow("\(name), coordinator", unit: "% of core", ours: share, bound: .atMost(25)),
                BenchRow("\(name), coordinator", unit: "MiB RSS", ours: after.resident, bound: .atMost(200)),
            ]
        } catch {
            await farm.stop()
            throw error
        }
    }
}
