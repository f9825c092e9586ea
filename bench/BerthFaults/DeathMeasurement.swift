import BerthCore
import BerthSystem
import BerthTestSupport
import Foundation

/// Whether nobody is taken for dead who only pauses or is far away, and how soon a real death is noticed, with the lease
/// that ships.
enum DeathMeasurement {
    private static let pause = Duration.seconds(3)

    /// Measures it once.
    /// - Parameter given: products, sources and where words go; the farm's shape is this measurement's own.
    /// - Returns: the figures.
    /// - Throws: when the farm cannot be set up
    static func run(_ given: FaultOptions) async throws -> [FaultResult] {
        var options = given
        options.hosts = 2
        options.slotsPerHost = 4
        options.leaseSeconds = 15
        options.lostReplies = 0
        options.meddlesWithMessages = false
        return try await FaultFarm.with(options) { farm in
            let work = Submissions(farm)
            let submitting = Task { await work.run() }
            let pauses = await pauseOneAfterTheOther(farm)
            work.end()
            await submitting.value
            await farm.waitForRest()
            // No fault explains anything here: each repeat is an attempt that was given up without need.
            let finding = try await farm.judge(submitted: work.runs, disturbances: [])
            for violation in finding.violations { farm.options.tell("violation: \(violation)") }
            let calm = CalmMeasurements(farm: farm, faults: FaultMaker(farm), work: work)
            return [
                FaultResult("attempts beside pauses of 3 s and 200 ms of delay", "count", Double(finding.attempts)),
                FaultResult("pauses of 3 s", "count", Double(pauses)),
                FaultResult("attempts given up falsely", "count", finding.repeats, atMost: 0),
                FaultResult("violations beside pauses", "count", finding.violations.count, atMost: 0),
            ] + (await calm.deaths(times: 5, silences: 2))
        }
    }

    /// A host's agents, its sshd and the coordinator stand still in turn; the other host is 200 ms away meanwhile.
    private static func pauseOneAfterTheOther(_ farm: FaultFarm) async -> Int {
        farm.hosts[1].proxy.delay(milliseconds: 200)
        defer { farm.hosts[1].proxy.delay(milliseconds: 0) }
        let own = farm.agents.filter { farm.hosts[0].slots.contains($0.name) }
        var pauses = 0
        for _ in 1...3 {
            for kind in 0..<3 {
                let connections = farm.hosts[0].ssh.connectionProcesses
                func signal(_ number: Int32) {
                    switch kind {
                    case 0: for agent in own { agent.signal(number) }
                    case 1: for process in connections { kill(process, number) }
                    default: farm.coordinator.signal(number)
                    }
                }
                signal(SIGSTOP)
                try? await Task.sleep(for: pause)
                signal(SIGCONT)
                pauses += 1
                try? await Task.sleep(for: .seconds(1))
            }
        }
        return pauses
    }
}
