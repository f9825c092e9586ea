import BerthCore
import BerthSystem
import BerthTestSupport
import Testing

/// Calling runs off, wherever they are.
@Suite(.serialized, .timeLimit(.minutes(8)))
struct CancelTests {
    @Test func aHangingAppEndsPromptlyAndTheRestOfTheBatchNeverStarts() async throws {
        try await TestFarm.with(slots: 1) { farm in
            try await farm.addScripted("steady", version: "1.0", "{}")
            try await farm.addScripted("hanging", version: "2.0", #"{"verify": "hang"}"#)
            let batch = try await farm.json(
                BatchView.self,
                ["submit", "--old", "steady", "--new", "hanging", "--case", "update", "--repeats", "4"]
            )
            func waitForHang(_ run: Int) async throws {
                try await eventually("run \(run) hangs in its app", within: .seconds(60)) {
                    try await farm.runs(of: batch.id)[run].attempts.last?.progress?.contains("launch verify") == true
                        && !farm.processesOfSlots().isEmpty
                }
            }
            try await waitForHang(0)
            let began = ContinuousClock.now
            let first = batch.runs[0].id
            #expect(try await farm.berth(["cancel", first]).contains("\(first) is being ended on sim-1"))
            try await eventually("the first run is cancelled", within: .seconds(20)) {
                try await farm.runs(of: batch.id)[0].state == .cancelled
            }
            // The time limit of a launch is a minute.
            #expect(ContinuousClock.now - began < .seconds(20))

            // The slot goes on with the next run; a batch is called off as a whole.
            try await waitForHang(1)
            try await farm.berth(["cancel", batch.id])
            let runs = try await farm.waitUntilFinished(batch.id, within: .seconds(20))
            #expect(runs.allSatisfy { $0.state == .cancelled && $0.verdict == .cancelled })
            #expect(runs.map(\.attempts.count) == [1, 1, 0, 0])
            #expect(runs.flatMap(\.attempts).allSatisfy { $0.outcome == .cancelled })
            #expect(runs[0].attempts[0].cause?.message.contains("admin cancelled the run") == true)
            let entries = try await farm.ledger().entries
            #expect(entries.map(\.outcome) == [.cancelled, .cancelled] && entries.allSatisfy { !$0.deciding })
            try await farm.waitForIdleSlots(1)
            #expect(farm.processesOfSlots().isEmpty)

            // An end is kept, and the slot is as good as before.
            let good = try await farm.submit(new: ["correct"], cases: ["update"])
            let passed = try #require(try await farm.waitUntilFinished(good.id).first)
            #expect(passed.verdict == .passed)
            #expect(try await farm.berth(["cancel", passed.id]).contains("had ended before: passed"))
            #expect(try await farm.json(RunView.self, ["run", "show", passed.id]).state == .finished)
            #expect(try await farm.tryBerth(["cancel", "b-77"]).termination == .exited(65))
        }
    }
}
