import BerthArchive
import BerthCore
import BerthStore
import BerthSystem
import BerthTestSupport
import Testing

/// Replays meet the farm as it is now.
@Suite(.timeLimit(.minutes(5)))
struct ReplayTests {
    @Test func anotherSystemIsNoSubstituteAndANewerCaseIsNotTheSame() async throws {
        try await ServedFarm.run { farm in
            try await farm.host.greet()
            try farm.host.join("a")
            try await eventually("the slot has joined") { try await farm.store.slots().count == 1 }
            let batch = try await farm.submit(["update"])
            let assignment = try await farm.assignment(to: "a")
            try farm.accept(assignment, on: "a")
            try farm.end(assignment, on: "a")
            let run = try #require(batch.runs.first)
            try await eventually("the run has passed") { try await farm.store.run(id: run.id).verdict == .passed }

            // The host was updated, and another one brings an older system.
            try farm.host.join("a", os: OSPin(version: "18.2", build: "y"))
            try farm.host.join("b", os: OSPin(version: "16.4", build: "z"))
            try await eventually("both slots have other systems") {
                try await farm.store.osVersions(platform: .linuxSimulated).map(\.version) == ["18.2", "16.4"]
            }
            let refused = try await farm.post("/v1/replays", ReplayRequest(run: run.id))
            #expect(refused.status == 409)
            let words = try CanonicalJSON.decode(ErrorBody.self, from: refused.body, document: "refusal").error
            #expect(words.code == "replay-refused" && words.problems?.map(\.place) == ["os 18.0"])
            #expect(words.message.contains("no slot of platform linux-simulated offers 18.0 (x)"))
            #expect(words.message.contains("nearest are 18.2 (y), 16.4 (z)"))
            #expect(words.message.contains("install the simulated runtime 18.0 of exactly this build"))
            #expect(try await farm.store.batches(limit: 9).count == 1)

            // The system is back, and the case has a newer version.
            try farm.host.join("a")
            let newer = CaseDefinition(
                name: "update",
                version: 7,
                scenario: "another one",
                steps: BuiltInCases.update.steps
            )
            try await farm.store.addCase(newer, digest: .sha256(of: try CanonicalJSON.encode(newer)), now: 1)
            try await eventually("the slot has its system again") {
                try await farm.store.osVersions(platform: .linuxSimulated).contains(run.pins.os)
            }
            let accepted = try await farm.post("/v1/replays", ReplayRequest(run: run.id))
            #expect(accepted.status == 201)
            let replay = try CanonicalJSON.decode(BatchView.self, from: accepted.body, document: "batch")
            #expect(replay.runs.map(\.pins) == [run.pins] && replay.runs.map(\.replays) == [run.id])
            #expect(try await farm.assignment(to: "a", number: 2).caseDefinition.version == 1)
        }
    }

    @Test(arguments: [
        ReplayRequest(), ReplayRequest(run: "r-1", batch: "b-1"), ReplayRequest(run: "r-1", until: 5),
        ReplayRequest(batch: "b-1", ledger: .hardware),
    ])
    func aRequestThatIsNotOneThingIsRefused(request: ReplayRequest) async throws {
        try await ServedFarm.run { farm in
            let answer = try await farm.post("/v1/replays", request)
            #expect(answer.status == 400 && String(decoding: answer.body, as: UTF8.self).contains("malformed-replay"))
        }
    }
}
