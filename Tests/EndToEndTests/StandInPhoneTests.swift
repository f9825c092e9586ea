import BerthCore
import BerthSystem
import Foundation
import Testing

/// What results of a stand-in phone count for.
@Suite(.serialized, .timeLimit(.minutes(8)))
struct StandInPhoneTests {
    @Test("H3: a stand-in's pass is kept apart, never counts for a device, and counts where a policy names it")
    func platformsStayApart() async throws {
        let farm = try await TestFarm.start(slots: 1, phones: 1)
        do {
            try await check(farm)
        } catch {
            await farm.stop()
            throw error
        }
        await farm.stop()
    }

    private func check(_ farm: TestFarm) async throws {
        let batch = try await farm.submit(new: ["correct", "renamed-query"], cases: ["update"], platform: .standIn)
        let runs = try await farm.waitUntilFinished(batch.id, within: .seconds(120))
        #expect(runs.count == 2)
        for run in runs {
            #expect(run.verdict == (run.buildNames.last == "correct" ? .passed : .failed), "\(run)")
            #expect(run.pins.platform == .standIn)
        }
        let hardware = try await farm.ledger(.hardware)
        #expect(hardware.entries.filter(\.deciding).count == 2)
        #expect(hardware.entries.allSatisfy { $0.device?.platform == .standIn })
        #expect(hardware.entries.allSatisfy { $0.tools["devicectl"]?.contains("stand-in") == true })
        #expect(try await farm.ledger(.simulator).entries.isEmpty)

        #expect(try await verdict(farm, new: "correct", platforms: ["stand-in"]) == .pass)
        #expect(try await verdict(farm, new: "correct", platforms: ["ios-device"]) == .incomplete)
        #expect(try await verdict(farm, new: "correct", platforms: ["stand-in", "linux-simulated"]) == .incomplete)
        #expect(try await verdict(farm, new: "renamed-query", platforms: ["stand-in"]) == .blocked)
        // A failure on a stand-in blocks no device's requirement either: it decides nothing there.
        #expect(try await verdict(farm, new: "renamed-query", platforms: ["ios-device"]) == .incomplete)
    }

    private func verdict(_ farm: TestFarm, new: String, platforms: [String]) async throws -> GateReport.Verdict {
        let policy = "\(farm.root)/policy.json"
        let requirements = platforms.map { #"{"platform": "\#($0)", "cases": ["update"]}"# }.joined(separator: ",")
        let text = #"{"format": 1, "name": "test", "requirements": [\#(requirements)]}"#
        try DurableFile.replace(policy, with: Array(text.utf8))
        let result = try await farm.tryBerth([
            "gate", "--old", "legacy", "--new", new, "--policy", policy, "--json",
        ])
        return try CanonicalJSON.decode(GateReport.self, from: result.output, document: "gate").verdict
    }
}
