import BerthCore
import BerthSystem
import Foundation

/// Whole runs through two hosts: claimed, sent over SSH, journaled, executed, reported, recorded in the ledger.
enum PathMeasurement {
    /// Both sides begin after a rest: a file system may walk past every file that was removed in the last five seconds, and
    /// whoever made and removed many leaves that to the next.
    private static let rest: Duration = .seconds(6)
    /// Most runs of one submission.
    private static let batch = 1_000

    @Sendable static func run(_ options: BenchOptions) async throws -> [BenchRow] {
        let rounds = options.length(3, quick: 1)
        let runs = options.length(3_000, quick: 600)
        var spawning: [Double] = []
        var without: [Double] = []
        var parallel: [Double] = []
        for round in 1...rounds {
            options.say("whole runs, round \(round) of \(rounds)")
            try await Task.sleep(for: rest)
            parallel.append(try await GNUParallel.rate(jobs: options.length(300, quick: 100), options))
            spawning.append(try await rate(of: runs, tool: "/bin/true", options))
            without.append(try await rate(of: runs, tool: "/nonexistent/xcrun", options))
        }
        let peer = BenchRow.Peer(
            name: "GNU parallel, shared ssh",
            value: StoreMeasurement.median(parallel)
        )
        return [
            BenchRow(
                "runs that spawn /bin/true, 2 hosts",
                unit: "runs/s",
                ours: StoreMeasurement.median(spawning),
                peer: peer,
                target: .atLeast(8)
            ),
            BenchRow(
                "runs without a spawn, 2 hosts",
                unit: "runs/s",
                ours: StoreMeasurement.median(without),
                peer: peer,
                target: .atLeast(15)
            ),
        ]
    }

    private static func rate(of runs: Int, tool: String, _ options: BenchOptions) async throws -> Double {
        let shape = BenchFarm.Shape(hosts: 2, slotsPerHost: 16, tool: tool)
        let farm = try await BenchFarm.start(shape, options)
        do {
            // As the peer's connections, the builds are on the hosts before the time counts.
            let warmed = 2 * shape.slots
            _ = try await seconds(farm, runs: warmed, until: warmed)
            try await Task.sleep(for: rest)
            let seconds = try await seconds(farm, runs: runs, until: warmed + runs)
            await farm.stop()
            return Double(runs) / seconds
        } catch {
            await farm.stop()
            throw error
        }
    }

    /// How long it takes from the first submission until the ledger has so many entries.
    private static func seconds(_ farm: BenchFarm, runs: Int, until wanted: Int) async throws -> Double {
        // Only the submitter's thread uses it, which has ended when `run` returns.
        nonisolated(unsafe) let client = try farm.connect()
        return try await Threads.run(name: "submitter") {
            let began = ContinuousClock.now
            for start in stride(from: 0, to: runs, by: batch) {
                _ = try BenchFarm.submit(min(batch, runs - start), client)
            }
            let deadline = began + .seconds(120)
            while true {
                let entries = try finished(client)
                if entries >= wanted { return (ContinuousClock.now - began).inSeconds }
                guard ContinuousClock.now < deadline else {
                    throw BenchFailure("\(entries) of \(wanted) runs are recorded after two minutes")
                }
                usleep(20_000)
            }
        }
    }

    private struct LedgerPart: Decodable {
        let head: LedgerHead
    }

    /// How many attempts the ledger holds.
    private static func finished(_ client: LoopbackHTTP) throws -> Int {
        let body = try client.request("GET", "/v1/ledgers/simulator?last=1")
        return Int(try CanonicalJSON.decode(LedgerPart.self, from: body, document: "ledger").head.length)
    }
}
