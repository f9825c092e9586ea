import BerthCore
import BerthSystem
import BerthTestSupport
import Foundation

/// A coordinator is killed with every slot at work and a long queue: how soon it is back, and has everything again.
enum AdoptionMeasurement {
    /// What is still missing, and how soon the rest was there.
    private struct Recovery {
        var api: Duration?
        var adopted: Duration?
    }

    private static let limit = Duration.seconds(60)

    /// Measures it once.
    /// - Parameter given: products, sources and where words go; the farm's shape is this measurement's own.
    /// - Returns: the figures.
    /// - Throws: when the farm cannot be set up or does not get to work
    static func run(_ given: FaultOptions) async throws -> [FaultResult] {
        var options = given
        options.hosts = 10
        options.slotsPerHost = 50
        options.leaseSeconds = 15
        options.lostReplies = 0
        options.meddlesWithMessages = false
        options.dwellSeconds = 60
        return try await FaultFarm.with(options) { try await measure($0, queued: 5000) }
    }

    private static func measure(_ farm: FaultFarm, queued: Int) async throws -> [FaultResult] {
        let slots = farm.options.slots
        let work = Submissions(farm)
        await work.submit(slots + queued)
        try await eventually("every slot works", within: .seconds(150)) {
            guard let status = await farm.client.status() else { return false }
            return status.running == slots
        }
        // A slot that was given a run is at work when its device has been touched for it.
        try await eventually("every device is in use", within: .seconds(60)) { try inFlight(farm).count == slots }
        let flying = try inFlight(farm)
        let waiting = await farm.client.status()?.queued ?? 0
        farm.options.tell("killing the coordinator with \(flying.count) runs in flight and \(waiting) queued")
        let recovery = await kill(farm, flying)
        farm.options.tell("waiting for the runs that were in flight")
        try await eventually("the runs in flight have ended", within: .seconds(240)) {
            try inFlight(farm).isDisjoint(with: flying)
        }
        // The last results are still on their way: five hundred agents end at once on one machine.
        let ended = ContinuousClock.now
        var (again, undecided) = try await fates(farm, flying)
        while undecided > 0, ContinuousClock.now < ended + limit {
            try await Task.sleep(for: .seconds(1))
            (again, undecided) = try await fates(farm, flying)
        }
        farm.options.tell("the last of their results came \(ContinuousClock.now - ended) after their ends")
        return [
            FaultResult("runs in flight at the kill", "count", Double(flying.count), atLeast: 500),
            FaultResult("runs queued at the kill", "count", Double(waiting), atLeast: 5000),
            FaultResult("API away after a kill with all slots busy", "s", seconds(recovery.api), atMost: 2),
            FaultResult("all runs in flight adopted after the kill", "s", seconds(recovery.adopted), atMost: 10),
            FaultResult("runs in flight that were run again", "count", again, atMost: 0),
            FaultResult("runs in flight that got no result", "count", undecided, atMost: 0),
        ]
    }

    private static func seconds(_ duration: Duration?) -> Double {
        let duration = duration ?? limit
        return Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
    }

    private static func kill(_ farm: FaultFarm, _ flying: Set<String>) async -> Recovery {
        let began = ContinuousClock.now
        let starts = farm.coordinator.starts
        farm.coordinator.signal(SIGKILL)
        var recovery = Recovery()
        while ContinuousClock.now < began + limit, !Task.isCancelled {
            if farm.coordinator.starts > starts, let status = await farm.client.status() {
                if recovery.api == nil { recovery.api = ContinuousClock.now - began }
                let slots = status.hosts.flatMap(\.slots)
                // Those that the coordinator has again, by what the agents told it.
                let known = Set(slots.filter { $0.state == .busy }.compactMap(\.attempt))
                if flying.isSubset(of: known) {
                    recovery.adopted = ContinuousClock.now - began
                    return recovery
                }
            }
            try? await Task.sleep(for: .milliseconds(10))
        }
        return recovery
    }

    /// The attempts that have touched their devices and not put them away.
    private static func inFlight(_ farm: FaultFarm) throws -> Set<String> {
        var flying: Set<String> = []
        for (_, touches) in try farm.touches().0 {
            for touch in touches where !touch.isKept {
                if touch.verb == "settle", touch.event == .end {
                    flying.remove(touch.attempt)
                } else {
                    flying.insert(touch.attempt)
                }
            }
        }
        return flying
    }

    /// How many of the attempts' runs were run once more, and how many of the attempts decided nothing.
    private static func fates(_ farm: FaultFarm, _ flying: Set<String>) async throws -> (again: Int, undecided: Int) {
        var attempts: [String: Set<String>] = [:]
        for (_, touches) in try farm.touches().0 {
            for touch in touches { attempts[touch.run, default: []].insert(touch.attempt) }
        }
        let again = attempts.values.count { !$0.isDisjoint(with: flying) && $0.count > 1 }
        let deciding = try await farm.ledgers().values.joined().compactMap {
            try? CanonicalJSON.decode(LedgerEntry.self, from: $0, document: "entry")
        }
        .filter(\.deciding).map(\.attempt)
        return (again, flying.subtracting(deciding).count)
    }
}
