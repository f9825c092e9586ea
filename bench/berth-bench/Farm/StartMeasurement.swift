import BerthCore
import BerthSystem
import Foundation

/// From the submission over HTTP to the start of the first step on an idle slot.
enum StartMeasurement {
    private static let rate = 20

    @Sendable static func run(_ options: BenchOptions) async throws -> [BenchRow] {
        let farm = try await BenchFarm.start(BenchFarm.Shape(hosts: 4, slotsPerHost: 50), options)
        do {
            let times = try await measure(farm, options)
            await farm.stop()
            return [
                BenchRow("submit to first step, 200 slots, p50", unit: "ms", ours: times.median, bound: .atMost(20)),
                BenchRow("submit to first step, 200 slots, p99", unit: "ms", ours: times.p99, bound: .atMost(100)),
            ]
        } catch {
            await farm.stop()
            throw error
        }
    }

    private static func measure(_ farm: BenchFarm, _ options: BenchOptions) async throws -> Samples {
        let count = rate * options.length(60, quick: 10)
        options.say("\(count) submissions, \(rate) a second")
        let connection = try farm.connect()
        // A thread of its own, since the client blocks; it alone uses it, and has ended when `run` returns.
        nonisolated(unsafe) let client = connection
        let submitted = try await Threads.run(name: "submitter") {
            var submitted: [String: ContinuousClock.Instant] = [:]
            let start = ContinuousClock.now
            for number in 0..<count {
                let due = start + .milliseconds(1000 / rate * number)
                let wait = due - ContinuousClock.now
                if wait > .zero { usleep(UInt32(wait.inSeconds * 1e6)) }
                let sent = ContinuousClock.now
                for run in try BenchFarm.submit(1, client).runs { submitted[run.id] = sent }
            }
            return submitted
        }
        let deadline = ContinuousClock.now + .seconds(20)
        while farm.agents.starts.all.count < count, ContinuousClock.now < deadline {
            try await Task.sleep(for: .milliseconds(100))
        }
        let starts = farm.agents.starts.all
        var times = Samples()
        for (run, sent) in submitted {
            guard let start = starts[run] else { throw BenchFailure("run \(run) was not started") }
            times.add(start - sent)
        }
        return times
    }
}
