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
        package let replies: ReplyTally
        /// How long the API was away after each kill of the coordinator, in seconds.
        package let outages: [Double]
        /// How fast the farm noticed single faults after the storm.
        package let measured: [FaultResult]
        package let seconds: Double
        /// Whether the storm was long enough for as many events and faults as are to be shown.
        package let isLong: Bool
        /// Whether replies between the coordinator and agents were to be lost.
        package let losesMessages: Bool
    }

    /// Runs one storm from nothing to the judgement, and leaves nothing behind.
    /// - Throws: when the farm cannot be set up
    package static func run(_ options: FaultOptions) async throws -> Outcome {
        try await FaultFarm.with(options, keepsIf: { !$0.finding.violations.isEmpty }) { farm in
            options.tell(
                "faults: small disks: \(SmallDisk.isPossible ? "yes" : "no, mounting is not permitted"), PostgreSQL: "
                    + (options.usesPostgres ? "yes" : "no") + ", clocks jump by multiples of "
                    + "\(options.clockStep / 3_600_000) h"
            )
            return try await storm(farm)
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
            for event in schedule.events where !work.isEnded && !Task.isCancelled {
                try? await Task.sleep(until: started + .milliseconds(event.at))
                // Ended from outside while it waited.
                if Task.isCancelled { break }
                group.addTask { await faults.make(event.fault) }
            }
        }
        await faults.calm()
        work.end()
        await submitting.value
        try Task.checkCancellation()
        options.tell(
            "the storm is over after \(faults.counts.values.reduce(0, +)) faults and \((ContinuousClock.now - started).components.seconds) s, "
                + "waiting for the rest"
        )
        await farm.waitForRest()
        var measured: [FaultResult] = []
        if options.measuresCalm {
            measured = await CalmMeasurements(farm: farm, faults: faults, work: work).run()
            await farm.waitForRest()
        }
        let finding = try await farm.judge(submitted: work.runs, disturbances: faults.disturbances)
        return Outcome(
            finding: finding,
            faults: faults.counts,
            replies: try farm.replies(),
            outages: faults.outages,
            measured: measured,
            seconds: Double((ContinuousClock.now - started).components.seconds),
            isLong: options.mix == .all && options.seconds >= 1800,
            losesMessages: options.lostMessages > 0
        )
    }
}
