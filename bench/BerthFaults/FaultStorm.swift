import BerthCore
import BerthSystem
import BerthTestSupport
import Foundation
import Synchronization

/// One storm: a farm works while faults come by the schedule; when they have ended and every run has its end, the check
/// judges by the devices' logs and the ledgers.
package enum FaultStorm {
    /// What came of a storm.
    package struct Outcome: Sendable {
        package let finding: FaultCheck.Finding
        /// How many faults of each name were done.
        package let faults: [String: Int]
        package let lostReplies: Int
        /// How long the API was away after each kill of the coordinator, in seconds.
        package let outages: [Double]
        /// How fast the farm noticed single faults after the storm.
        package let measured: [FaultResult]
        package let seconds: Double
    }

    /// Runs one storm from nothing to the judgement, and leaves nothing behind.
    /// - Throws: when the farm cannot be set up
    package static func run(_ options: FaultOptions) async throws -> Outcome {
        Signals.ignoreBrokenPipes()
        let folder = try TemporaryDirectory()
        let farm = try await FaultFarm.start(options, in: folder.path)
        options.tell(
            "farm: \(options.hosts) hosts, \(options.slots) slots, lease \(options.leaseSeconds) s, seed \(options.seed), "
                + "small disks: \(SmallDisk.isPossible ? "yes" : "no, mounting is not permitted"), PostgreSQL: "
                + (options.usesPostgres ? "yes" : "no") + ", clocks jump by multiples of "
                + "\(options.clockStep / 3_600_000) h"
        )
        do {
            let outcome = try await storm(farm)
            await farm.stop()
            if let place = options.keepAt, !outcome.finding.violations.isEmpty {
                try? FileManager.default.moveItem(atPath: folder.path, toPath: place)
            }
            return outcome
        } catch {
            await farm.stop()
            if let place = options.keepAt { try? FileManager.default.moveItem(atPath: folder.path, toPath: place) }
            throw error
        }
    }

    private static func storm(_ farm: FaultFarm) async throws -> Outcome {
        let options = farm.options
        let started = ContinuousClock.now
        let schedule = FaultSchedule(
            seed: options.seed,
            milliseconds: options.seconds * 1000,
            hosts: options.hosts,
            slotsPerHost: options.slotsPerHost,
            lease: options.leaseSeconds * 1000,
            pace: options.pace,
            hasSmallDisks: farm.storeDisk != nil,
            hasDatabase: farm.database != nil,
            mix: options.mix
        )
        let faults = FaultMaker(farm)
        let work = Submissions(farm)
        let submitting = Task { await work.run() }
        await withDiscardingTaskGroup { group in
            for event in schedule.events where !work.isEnded {
                try? await Task.sleep(until: started + .milliseconds(event.at))
                group.addTask { await faults.make(event.fault) }
            }
        }
        await faults.calm()
        work.end()
        await submitting.value
        options.tell(
            "the storm is over after \(faults.counts.values.reduce(0, +)) faults and \((ContinuousClock.now - started).components.seconds) s, "
                + "waiting for the rest"
        )
        await waitForRest(farm)
        var measured: [FaultResult] = []
        if options.measuresCalm {
            measured = await CalmMeasurements(farm: farm, faults: faults, work: work).run()
            await waitForRest(farm)
        }
        let ledgers = try await ledgers(farm)
        var logs: [String: [Touch]] = [:]
        var unreadable: [FaultCheck.Violation] = []
        for slot in farm.slotNames {
            let bytes = try DurableFile.read("\(farm.root)/devices/\(slot)/touches", limit: 1 << 30)
            let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
            logs[slot] = lines.compactMap { Touch($0) }
            if logs[slot]?.count != lines.count {
                unreadable.append(.init(rule: .unreadable, words: "the log of \(slot) has a line that is none"))
            }
        }
        let check = FaultCheck(
            logs: logs,
            ledgers: ledgers,
            submitted: work.runs,
            disturbances: faults.disturbances,
            lease: Int64(options.leaseSeconds) * 1_000_000_000,
            clockStep: options.clockStep
        )
        var finding = check.judge()
        finding.violations += unreadable
        return Outcome(
            finding: finding,
            faults: faults.counts,
            lostReplies: farm.api.dropped.load(ordering: .relaxed),
            outages: faults.outages,
            measured: measured,
            seconds: Double((ContinuousClock.now - started).components.seconds)
        )
    }

    /// Gives every run the time that its attempts can take. What has no end then is found missing in the ledger.
    private static func waitForRest(_ farm: FaultFarm) async {
        let limit = Duration.seconds(60 + farm.options.leaseSeconds * 4)
        let deadline = ContinuousClock.now + limit
        while ContinuousClock.now < deadline {
            if let status = await farm.client.status(), status.queued == 0, status.running == 0 { return }
            try? await Task.sleep(for: .milliseconds(100))
        }
        farm.options.tell("runs are still waiting after \(limit)")
    }

    private static func ledgers(_ farm: FaultFarm) async throws -> [DeviceKind: [[UInt8]]] {
        var ledgers: [DeviceKind: [[UInt8]]] = [:]
        for kind in DeviceKind.allCases {
            guard let bytes = await farm.client.ledger(kind) else {
                throw FaultFarm.Failure(description: "the \(kind.rawValue) ledger cannot be read")
            }
            ledgers[kind] = bytes
        }
        return ledgers
    }
}
