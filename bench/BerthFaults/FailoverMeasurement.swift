import BerthCore
import BerthSystem
import BerthTestSupport
import Foundation

/// Two coordinators share a farm by one database; one is killed and stays away: how soon the other one has its hosts.
enum FailoverMeasurement {
    private static let rounds = 3

    /// Measures it some times in turn.
    /// - Parameter given: products, sources and where words go; the farm's shape is this measurement's own.
    /// - Returns: the figures.
    /// - Throws: when the farm cannot be set up, or a coordinator does not take its share
    static func run(_ given: FaultOptions) async throws -> [FaultResult] {
        var options = given
        options.hosts = 4
        options.slotsPerHost = 4
        options.leaseSeconds = 15
        options.usesPostgres = true
        options.coordinators = 2
        return try await FaultFarm.with(options) { farm in
            try await waitForShares(farm)
            let work = Submissions(farm)
            let submitting = Task { await work.run() }
            var disturbances: [Disturbance] = []
            var longest = 0.0
            for round in 0..<rounds {
                try await Task.sleep(for: .seconds(2))
                let from = FaultMaker.now()
                let lasted = try await failover(farm, work, killing: round % 2)
                longest = max(longest, lasted)
                disturbances.append(
                    Disturbance(
                        "killCoordinator",
                        devices: Set(farm.slotNames),
                        from: from,
                        to: FaultMaker.now(),
                        isFatal: false
                    )
                )
                farm.coordinators[round % 2].holdBack(false)
                try await waitForShares(farm)
            }
            work.end()
            await submitting.value
            await farm.waitForRest()
            let finding = try await farm.judge(submitted: work.runs, disturbances: disturbances)
            for violation in finding.violations { farm.options.tell("violation: \(violation)") }
            return [
                FaultResult("runs beside failovers", "count", Double(finding.runs)),
                FaultResult(
                    "hosts taken over after a kill, at most",
                    "s",
                    longest,
                    atMost: Double(options.leaseSeconds + 2)
                ),
                FaultResult("lost in failovers", "count", finding.count(.lostResult), atMost: 0),
                FaultResult(
                    "doubled in failovers",
                    "count",
                    finding.count(.doubledResult, .repeatedAttempt, .inventedResult),
                    atMost: 0
                ),
                FaultResult("run again in failovers", "count", finding.repeats, atMost: 0),
                FaultResult("violations in failovers", "count", finding.violations.count, atMost: 0),
            ]
        }
    }

    /// Each holds hosts, and all slots are there.
    private static func waitForShares(_ farm: FaultFarm) async throws {
        try await eventually("both coordinators hold hosts", within: .seconds(90)) {
            for client in farm.clients {
                guard let status = await client.status(), isWhole(status, farm), holders(status).count == 2 else {
                    return false
                }
            }
            return true
        }
    }

    private static func failover(_ farm: FaultFarm, _ work: Submissions, killing victim: Int) async throws -> Double {
        let survivor = 1 - victim
        work.ask(survivor)
        farm.coordinators[victim].holdBack(true)
        let began = ContinuousClock.now
        farm.coordinators[victim].signal(SIGKILL)
        try await eventually("the hosts are taken over", within: .seconds(60)) {
            guard let status = await farm.clients[survivor].status() else { return false }
            return isWhole(status, farm) && holders(status).count == 1
        }
        let lasted = ContinuousClock.now - began
        return Double(lasted.components.seconds) + Double(lasted.components.attoseconds) / 1e18
    }

    private static func holders(_ status: FarmStatus) -> Set<String> { Set(status.hosts.compactMap(\.coordinator)) }

    private static func isWhole(_ status: FarmStatus, _ farm: FaultFarm) -> Bool {
        status.hosts.allSatisfy { $0.state == .connected && $0.coordinator != nil }
            && status.hosts.flatMap(\.slots).count { $0.state != .offline } == farm.options.slots
    }
}
