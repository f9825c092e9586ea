import BerthCore
import BerthSystem
import BerthTestSupport
import Testing

/// From a plan file to runs on the slots that it asks for.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct PlanSubmissionTests {
    @Test func aPlanRunsWhereItsLabelsSayAndOnTheVersionThatWasResolved() async throws {
        try await TestFarm.with(slots: 2) { farm in
            let offered = try #require(try await farm.json([HostView].self, ["host", "list"]).first?.slots.first)
            let version = offered.device.os.version
            let text = """
                format: 1
                name: nightly
                old: legacy
                new: [correct, renamed-query]
                cases: update
                os: [latest, ">=\(version)"]
                labels: {slot: sim-2, kind: simulator}
                repeats: 2
                """
            let plan = try farm.write(text, to: "plan.yaml")
            let offline = try await farm.tryBerth(["plan", "check", plan, "--offline"])
            #expect(offline.termination == .exited(0) && offline.outputText.contains("2 paths in 1 cases"))
            let check = try await farm.json(PlanCheck.self, ["plan", "check", plan])
            #expect(check.pins.count == 2 && check.pins.allSatisfy { $0.os == offered.device.os })
            // The range and `latest` mean the same system here: it is run once, and that is said.
            #expect(check.warnings.count == 1 && check.warnings[0].contains("in the plan already"))

            let batch = try await farm.json(BatchView.self, ["submit", "--plan", plan])
            #expect(batch.name == "nightly" && batch.runs.count == 4)
            #expect(batch.runs.allSatisfy { $0.labels == ["slot": "sim-2", "kind": "simulator"] })
            let runs = try await farm.waitUntilFinished(batch.id)
            #expect(Set(runs.flatMap(\.attempts).map(\.slot)) == ["sim-2"])
            #expect(runs.map(\.verdict) == [.passed, .passed, .failed, .failed])
            #expect(try await farm.berth(["run", "show", runs[0].id]).contains("kind: simulator, slot: sim-2"))
        }
    }

    @Test func whatCannotBeRunIsNamedByItsPlaceInTheFileAndNothingIsQueued() async throws {
        try await TestFarm.with(slots: 1) { farm in
            let text = """
                format: 1
                old: legacy
                new:
                  - correct
                  - corect
                cases: [update, updat]
                os: "17.0"
                """
            let plan = try farm.write(text, to: "plan.yaml")
            for command in [["plan", "check", plan], ["submit", "--plan", plan]] {
                let result = try await farm.tryBerth(command)
                #expect(result.termination == .exited(65))
                let lines = result.errorText.split(separator: "\n")
                #expect(lines.contains { $0.hasPrefix("\(plan):5:5: ") && $0.contains("claims-success, correct") })
                #expect(lines.contains { $0.hasPrefix("\(plan):6:17: ") && $0.contains("fresh-install") })
            }
            func complaint(_ text: String, _ line: String) async throws {
                let plan = try farm.write("format: 1\ncases: update\n" + text, to: "plan.yaml")
                let result = try await farm.tryBerth(["submit", "--plan", plan])
                #expect(result.termination == .exited(65) && result.errorText.contains("\(plan):\(line)"), "\(result)")
            }
            let builds = "old: legacy\nnew: correct\n"
            try await complaint(
                builds + "os: \"17.0\"\n",
                "5:5: no slot of platform linux-simulated offers 17.0; there are"
            )
            try await complaint(
                builds + "labels: {slot: sim-9}\n",
                "5:16: no slot of platform linux-simulated with the"
            )
            try await complaint(
                builds + "kinds: hardware\n",
                "5:8: build legacy is made for linux-simulated, which is of"
            )
            try await complaint(
                builds + "platforms: ios-device\n",
                "5:12: build legacy is made for linux-simulated and"
            )
            try await complaint(
                "paths: [[legacy, correct, renamed-query]]\n",
                "3:9: the path has 3 builds and case update"
            )
            // The same build under another name.
            let digits = try await farm.json([BuildRecord].self, ["build", "list"]).first {
                $0.description.name == "legacy"
            }
            try await complaint(
                "old: legacy\nnew: \(try #require(digits).id.hex.prefix(12))\n",
                "4:6: old and new build are the same"
            )
            #expect(try await farm.json([BatchView].self, ["run", "list"]).isEmpty)
        }
    }

    @Test func exchangedBuildsAreAllowedWithAWarningAndAKeyStandsForOneContent() async throws {
        try await TestFarm.with(slots: 1) { farm in
            let options = ["submit", "--old", "correct", "--new", "legacy", "--case", "fresh-install"]
            let first = try await farm.tryBerth(options + ["--idempotency-key", "k", "--json"])
            #expect(first.termination == .exited(0))
            #expect(first.errorText.contains("are old and new exchanged?"))
            let batch = try CanonicalJSON.decode(BatchView.self, from: first.output, document: "batch")
            let again = try await farm.json(BatchView.self, options + ["--idempotency-key", "k"])
            #expect(again.id == batch.id)
            let other = try await farm.tryBerth(options + ["--repeats", "2", "--idempotency-key", "k"])
            #expect(other.termination == .exited(65) && other.errorText.contains("[idempotency-conflict]"))
            #expect(try await farm.json([BatchView].self, ["run", "list"]).count == 1)
        }
    }
}
