import BerthCore
import BerthSystem
import Foundation

/// How fast a farm notices and recovers, one fault at a time, when no others are about.
struct CalmMeasurements: Sendable {
    let farm: FaultFarm
    let faults: FaultMaker
    let work: Submissions

    /// How soon all is well after a kill of the coordinator, and deaths are seen.
    /// - Returns: the figures; one that could not be measured in its time is left out, and said.
    func run() async -> [FaultResult] {
        await work.submitOnce()
        var results: [FaultResult] = []
        if let back = await coordinatorKill() {
            results.append(FaultResult("all slots adopted after a kill of the coordinator", "s", back, atMost: 10))
        }
        return results + (await deaths(times: 1, silences: 1))
    }

    /// How soon deaths of agents and the silence of a host are seen, the longest of several each.
    /// - Parameters:
    ///   - times: how many agents are killed.
    ///   - silences: how often a host is silent.
    /// - Returns: the figures; one that could not be measured in its time misses its target.
    func deaths(times: Int, silences: Int) async -> [FaultResult] {
        var (dead, silent) = (0.0, 0.0)
        for _ in 0..<times {
            dead = max(dead, await agentKill() ?? .infinity)
            try? await farm.waitForSlots(within: .seconds(30))
        }
        for _ in 0..<silences {
            silent = max(silent, await silence() ?? .infinity)
            try? await farm.waitForSlots(within: .seconds(60))
        }
        return [
            FaultResult("death of an agent seen after", "s", min(dead, 1000), atMost: 1),
            FaultResult("silence of a host seen after", "s", min(silent, 1000), atMost: 10),
        ]
    }

    private func coordinatorKill() async -> Double? {
        let began = ContinuousClock.now
        await faults.make(.killCoordinator)
        return await seconds(since: began, "adoption", within: .seconds(30)) { slots in
            slots.allSatisfy { $0.state != .offline } && slots.count == farm.options.slots
        }
    }

    private func agentKill() async -> Double? {
        guard let agent = farm.agents.first else { return nil }
        agent.holdBack(true)
        defer { agent.holdBack(false) }
        let began = ContinuousClock.now
        await faults.make(.killAgent(slot: 0))
        return await seconds(since: began, "an agent's death", within: .seconds(30)) { slots in
            slots.contains { $0.name == agent.name && $0.state == .offline }
        }
    }

    private func silence() async -> Double? {
        guard let host = farm.hosts.last else { return nil }
        let limit = 45_000
        let began = ContinuousClock.now
        let from = FaultMaker.now()
        host.proxy.block(toTarget: true, fromTarget: true)
        let seen = await seconds(since: began, "silence", within: .milliseconds(limit)) { slots in
            let own = slots.filter { host.slots.contains($0.name) }
            return !own.isEmpty && own.allSatisfy { $0.state == .offline }
        }
        host.proxy.block(toTarget: false, fromTarget: false)
        faults.note(.partition(host: farm.hosts.count - 1, .both, milliseconds: limit), from: from)
        return seen
    }

    private func seconds(
        since began: ContinuousClock.Instant,
        _ what: String,
        within limit: Duration,
        _ condition: ([SlotView]) -> Bool
    ) async -> Double? {
        while ContinuousClock.now < began + limit {
            if let status = await farm.client.status(), condition(status.hosts.flatMap(\.slots)) {
                let lasted = ContinuousClock.now - began
                return Double(lasted.components.seconds) + Double(lasted.components.attoseconds) / 1e18
            }
            try? await Task.sleep(for: .milliseconds(5))
        }
        farm.options.tell("\(what) was not seen within \(limit)")
        return nil
    }
}
