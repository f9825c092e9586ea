import BerthCore
import BerthSystem
import Foundation

/// Whole runs through two hosts: claimed, sent over SSH, journaled, executed, reported, recorded in the ledger.
enum PathMeasurement {
    @Sendable static func run(_ options: BenchOptions) async throws -> [BenchRow] {
        let rounds = options.length(3, quick: 1)
        let runs = options.length(1_000, quick: 300)
        var spawning: [Double] = []
        var without: [Double] = []
        var parallel: [Double] = []
        for round in 1...rounds {
            options.say("whole runs, round \(round) of \(rounds)")
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
            // Only the submitter's thread uses it, which has ended when `run` returns.
            nonisolated(unsafe) let client = try farm.connect()
            let rate = try await Threads.run(name: "submitter") {
                let began = ContinuousClock.now
                _ = try BenchFarm.submit(runs, client)
                let deadline = began + .seconds(120)
                while true {
                    let entries = try finished(client)
                    if entries >= runs { break }
                    guard ContinuousClock.now < deadline else {
                        throw BenchFailure("\(entries) of \(runs) runs are recorded after two minutes")
                    }
                    usleep(50_000)
                }
                return Double(runs) / (ContinuousClock.now - began).inSeconds
            }
            await farm.stop()
            return rate
        } catch {
            await farm.stop()
            throw error
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
