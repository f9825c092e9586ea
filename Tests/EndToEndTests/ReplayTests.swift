import BerthCore
import BerthSystem
import BerthTestSupport
import Foundation
import Testing

/// The same upgrade path is reproduced from the ledger and the archive alone, or refused (P1, P2).
@Suite(.serialized, .timeLimit(.minutes(8)))
struct ReplayTests {
    @Test func afterTheHostWasResetTheSamePinsRunAgain() async throws {
        try await TestFarm.with(slots: 2) { farm in
            let batch = try await farm.submit(new: ["correct"], cases: ["update", "restart"], repeats: 2)
            let runs = try await farm.waitUntilFinished(batch.id)
            #expect(runs.count == 4 && runs.allSatisfy { $0.verdict == .passed })
            try await farm.resetHost()
            try await farm.waitForIdleSlots(2)
            // The names of the builds have come to mean others since; pins are digests.
            try await farm.addScripted("legacy", version: "9.0", "{}")

            let replay = try await farm.json(BatchView.self, ["replay", "--batch", batch.id])
            #expect(replay.id != batch.id && replay.replay?.batch == batch.id)
            let again = try await farm.waitUntilFinished(replay.id)
            #expect(again.map(\.pins) == runs.map(\.pins))
            #expect(again.map(\.replays) == runs.map(\.id))
            #expect(again.allSatisfy { $0.verdict == .passed })
            // The agents are new ones: nothing of the former devices was needed.
            let former = Set(runs.flatMap(\.attempts).compactMap(\.report?.device.identity))
            #expect(former.isDisjoint(with: again.flatMap(\.attempts).compactMap(\.report?.device.identity)))
            #expect(try await farm.berth(["run", "show", again[0].id]).contains("replays \(runs[0].id)"))

            let one = try await farm.json(BatchView.self, ["replay", runs[3].id])
            #expect(one.runs.map(\.pins) == [runs[3].pins])
            // Everything that was recorded so far: four runs, and the four that replayed them.
            let all = try await farm.json(BatchView.self, ["replay", "--since", "1h", "--ledger", "simulator"])
            #expect(all.runs.compactMap(\.replays).prefix(8) == (runs + again).map(\.id)[...])
            let never = try await farm.tryBerth(["replay", "--since", "1h", "--until", "30m"])
            #expect(never.termination == .exited(65) && never.errorText.contains("[nothing-recorded]"))
            #expect(try await farm.tryBerth(["replay", "r-99"]).errorText.contains("[unknown-run]"))
        }
    }

    @Test func whatIsMissingOrDamagedIsNamedAndNothingIsQueued() async throws {
        try await TestFarm.with(slots: 1) { farm in
            let batch = try await farm.submit(new: ["correct"], cases: ["update"])
            let run = try #require(try await farm.waitUntilFinished(batch.id).first)
            #expect(run.verdict == .passed)
            let program = try await farm.blobPath("correct", of: "correct")
            let plist = try await farm.blobPath("Info.plist", of: "legacy")
            let manifest = farm.archived(run.pins.path[1])
            let (bytes, list) = (
                try DurableFile.read(program, limit: 1 << 28), try DurableFile.read(plist, limit: 1 << 20)
            )

            func refusal() async throws -> String {
                let result = try await farm.tryBerth(["replay", run.id])
                #expect(result.termination == .exited(65))
                #expect(result.errorText.contains("[replay-refused]"), "\(result.errorText)")
                return result.errorText
            }
            // One file is gone and of another one byte is wrong: both are named, by build and path.
            var damaged = list
            damaged[damaged.count / 2] ^= 1
            try DurableFile.replace(plist, with: damaged)
            unlink(program)
            let both = try await refusal()
            #expect(both.contains("build correct") && both.contains("file correct: the blob"))
            #expect(
                both.contains("build legacy") && both.contains("file Info.plist: the blob") && both.contains("damaged")
            )
            try DurableFile.replace(plist, with: list)
            try DurableFile.replace(program, with: bytes)
            let saved = try DurableFile.read(manifest, limit: 1 << 24)
            unlink(manifest)
            #expect(try await refusal().contains("its manifest cannot be used"))
            try DurableFile.replace(manifest, with: saved)
            #expect(try await farm.json([BatchView].self, ["run", "list"]).count == 1)

            let replay = try await farm.json(BatchView.self, ["replay", run.id, "--idempotency-key", "again"])
            #expect(
                try await farm.json(BatchView.self, ["replay", run.id, "--idempotency-key", "again"]).id == replay.id
            )
            #expect(try await farm.waitUntilFinished(replay.id).first?.verdict == .passed)
        }
    }
}
