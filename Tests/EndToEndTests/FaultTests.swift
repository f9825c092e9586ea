import BerthFaults
import Testing

/// The short form of `ops/bench faults`: kills, stops, breaks and full disks, judged by the devices' own logs and the
/// ledgers.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct FaultTests {
    private static var options: FaultOptions {
        var options = FaultOptions(products: TestFarm.products, sources: packageRoot)
        options.seconds = 5
        options.hosts = 2
        options.slotsPerHost = 4
        options.seed = UInt64.random(in: 1...999_999)
        return options
    }

    @Test func nothingIsLostRunTwiceOrShared() async throws {
        let options = Self.options
        let outcome = try await FaultStorm.run(options)
        let words = outcome.report.joined(separator: "\n")
        #expect(outcome.finding.violations.isEmpty, "seed \(options.seed)\n\(words)")
        #expect(outcome.finding.runs > 0 && outcome.finding.hits > 0, "seed \(options.seed)\n\(words)")
    }

    /// Which faults come together is chance, so a storm may miss it; several do not.
    @Test func aFarmWithoutFencingIsFoundOut() async throws {
        var seeds: [UInt64] = []
        for _ in 0..<4 {
            var options = Self.options
            Breakage.withoutFencing.apply(to: &options)
            seeds.append(options.seed)
            if Breakage.withoutFencing.isNoticed(by: try await FaultStorm.run(options).finding) { return }
        }
        Issue.record("fencing was off, and the storms with the seeds \(seeds) were found to be in order")
    }
}
