import BerthCore
import BerthSystem
import BerthTestSupport
import Foundation
import Testing

/// Every sample build in the case that finds its fault, and users' own cases.
@Suite(.serialized, .timeLimit(.minutes(8)))
struct CaseTests {
    private func withFarm(slots: Int, _ body: (TestFarm) async throws -> Void) async throws {
        let farm = try await TestFarm.start(slots: slots, builds: TestFarm.sampleBuilds)
        do {
            try await body(farm)
        } catch {
            await farm.stop()
            throw error
        }
        await farm.stop()
    }

    /// Build, case, and the one check that has to be broken.
    private static let rows: [(build: String, caseName: String, check: RuleID?)] = [
        ("renamed-query", "update", .readable), ("claims-success", "update", .readable),
        ("accessibility-filter", "update", .readable), ("deletes-corrupt", "corrupt-item", .nothingDeleted),
        ("delete-first", "write-refused", .originalKept), ("trusts-marker", "marker-without-data", .dataSought),
        ("group-changed", "group-changed", .groupReachable),
        ("broad-delete", "update-bystanders", .bystandersUntouched),
        ("writes-again", "restart", .repeatable), ("production-reacts", "production-build", .productionSilent),
        ("production", "production-build", nil),
    ]

    @Test("Each fault is found by the check that stands for it and by no other; the correct build passes beside it")
    func everyFaultIsFound() async throws {
        try await withFarm(slots: 2) { farm in
            var batches: [String] = []
            let cases = BuiltInCases.ofTwoBuilds.map(\.name)
            for name in cases {
                let builds = Self.rows.filter { $0.caseName == name }.map(\.build)
                let correct = name == "production-build" ? [] : ["correct"]
                batches.append(try await farm.submit(new: builds + correct, cases: [name]).id)
            }
            var runs: [RunView] = []
            for batch in batches { runs += try await farm.waitUntilFinished(batch) }
            for (build, name, check) in Self.rows {
                let run = try #require(runs.first { $0.buildNames.last == build && $0.pins.caseName == name })
                let attempt = try #require(run.attempts.last)
                let broken = attempt.checks.filter { $0.state == .broken }.map(\.id)
                #expect(
                    broken == [check].compactMap { $0 },
                    "\(build) in \(name): \(String(describing: attempt.cause))"
                )
                #expect(run.verdict == (check == nil ? .passed : .failed), "\(build) in \(name)")
                #expect(run.attempts.count == 1, "\(build) in \(name): \(run.attempts.map(\.cause))")
            }
            for run in runs where run.buildNames.last == "correct" {
                #expect(run.verdict == .passed, "\(run.pins.caseName): \(String(describing: run.attempts.last?.cause))")
            }
            #expect(runs.count == Self.rows.count + cases.count - 1)
            try await self.explainsTheGroup(farm, runs)
        }
    }

    @Test("S3: what a build with a new access group cannot reach, it can after a transitional build has moved it")
    func throughTransitional() async throws {
        try await withFarm(slots: 1) { farm in
            func submit(_ transitional: String) async throws -> RunView {
                let path = ["--old", "legacy", "--transitional", transitional, "--new", "group-changed"]
                let batch = try await farm.json(
                    BatchView.self,
                    ["submit"] + path + ["--case", "through-transitional"]
                )
                return try #require(try await farm.waitUntilFinished(batch.id).first)
            }
            let policy = "\(farm.root)/policy.json"
            try DurableFile.replace(
                policy,
                with: Array(
                    #"""
                    {"format":1,"name":"p","requirements":[{"platform":"linux-simulated","cases":["through-transitional"]}]}
                    """#.utf8
                )
            )
            func gate(_ path: String...) async throws -> Int32? {
                let words = ["gate", "--policy", policy, "--old", "legacy", "--new", "group-changed"]
                guard case .exited(let code) = try await farm.tryBerth(words + path).termination else { return nil }
                return code
            }
            // A build in between that moves nothing helps nobody.
            let idle = try await submit("correct")
            #expect(idle.verdict == .failed && idle.buildNames == ["legacy", "correct", "group-changed"])
            let broken = idle.attempts.last?.checks.filter { $0.state == .broken }.map(\.id) ?? []
            #expect(Set(broken) == [.readable, .groupReachable])
            let moved = try await submit("transitional")
            #expect(moved.verdict == .passed, "\(String(describing: moved.attempts.last?.cause))")
            #expect(try await gate("--transitional", "transitional") == 0)
            #expect(try await gate("--transitional", "correct") == 1)
            // The release without it is another path, of which nothing is known.
            #expect(try await gate() == 2)
            let words = ["submit", "--old", "legacy", "--new", "group-changed", "--case", "through-transitional"]
            let refused = try await farm.tryBerth(words)
            #expect(
                refused.termination == .exited(65) && refused.errorText.contains("installs 3"),
                "\(refused.errorText)"
            )
        }
    }

    /// S1, C1: a reader of `run show` learns which group went away, without opening anything else.
    private func explainsTheGroup(_ farm: TestFarm, _ runs: [RunView]) async throws {
        let run = try #require(runs.first { $0.buildNames.last == "group-changed" })
        let shown = try await farm.berth(["run", "show", run.id])
        for words in [
            "M5 broken: the new build reaches the old item's access group",
            "because (S1) the old item lies in access group EXAMPLE42.com.example.product",
            "-25300 errSecItemNotFound (item not found)", "≠ service",
            "- <string>EXAMPLE42.com.example.product</string>",
            "+ <string>EXAMPLE77.com.example.product</string>", "S1 the prefix (team ID)", "device kept (E2)",
        ] {
            #expect(shown.contains(words), "\(words) is missing from\n\(shown)")
        }
        let lines = shown.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.count <= 43 && lines.allSatisfy { $0.count <= 80 }, "\(shown)")
        // The builds' descriptions carry the same, so that a release can be compared before it is run.
        let build = try await farm.json(BuildRecord.self, ["build", "show", "group-changed"])
        #expect(build.description.signing?.accessGroups == ["EXAMPLE77.com.example.product"])
    }

    @Test("A case of a user's own is checked, added, shown and run; one that no slot can perform passes nowhere")
    func ownCases() async throws {
        try await withFarm(slots: 1) { farm in
            func file(_ name: String, _ text: String) throws -> String {
                let path = "\(farm.root)/\(name).json"
                try DurableFile.replace(path, with: Array(text.utf8))
                return path
            }
            let wrong = try file(
                "wrong",
                "{\"format\": 1, \"name\": \"w\",\n\"version\": 1, \"scenario\": \"\", \"steps\": [\n{\"step\": \"instal\"}]}"
            )
            let refused = try await farm.tryBerth(["case", "check", wrong])
            #expect(refused.termination == .exited(65))
            for word in [wrong, "line 3", "instal", "install, launch, terminate"] {
                #expect(refused.errorText.contains(word), "\(refused.errorText)")
            }
            func steps(_ more: String) -> String {
                """
                [{"step": "install", "build": "old"}, {"step": "launch", "phase": "seed"}, \(more)
                {"step": "install", "build": "new"}, {"step": "launch", "phase": "verify", "decides": ["G1"]}]
                """
            }
            let mine = try file("mine", #"{"format":1,"name":"mine","version":1,"scenario":"x","steps":\#(steps(""))}"#)
            #expect(try await farm.berth(["case", "check", mine]).contains("mine, version 1"))
            let added = try await farm.json(CaseRecord.self, ["case", "add", mine])
            #expect(try await farm.json(CaseRecord.self, ["case", "show", "mine"]) == added)
            #expect(try await farm.json([CaseRecord].self, ["case", "list"]).count == BuiltInCases.all.count + 1)
            let changed = try file(
                "changed",
                #"{"format":1,"name":"mine","version":1,"scenario":"y","steps":\#(steps(""))}"#
            )
            #expect(try await farm.tryBerth(["case", "add", changed]).errorText.contains("raise the version"))
            let taken = try file(
                "taken",
                #"{"format":1,"name":"update","version":9,"scenario":"y","steps":\#(steps(""))}"#
            )
            #expect(try await farm.tryBerth(["case", "add", taken]).termination == .exited(65))

            let lock = #"{"step":"lock"},"#
            let locked = try file(
                "locked",
                #"{"format":1,"name":"locked","version":1,"scenario":"x","features":["lock"],"steps":\#(steps(lock))}"#
            )
            try await farm.berth(["case", "add", locked])
            let plan = try file(
                "plan",
                #"{"format":1,"paths":[["legacy","correct"]],"cases":["locked"],"os":["latest"],"platforms":["linux-simulated"]}"#
            )
            let checked = try await farm.tryBerth(["plan", "check", plan])
            #expect(checked.errorText.contains("offers what case locked needs (lock)"), "\(checked.errorText)")
            let impossible = try await farm.submit(new: ["correct"], cases: ["locked"])
            let possible = try await farm.submit(new: ["correct"], cases: ["mine"])
            let run = try #require(try await farm.waitUntilFinished(possible.id).first)
            #expect(run.verdict == .passed && run.pins.caseDigest == added.digest)
            // The slot was free for it all the time, and it is what it was.
            let waiting = try #require(try await farm.runs(of: impossible.id).first)
            #expect(waiting.state == .queued && waiting.attempts.isEmpty)
            let policy = try file(
                "policy",
                #"{"format":1,"name":"p","requirements":[{"platform":"linux-simulated","cases":["mine","locked"]}]}"#
            )
            let gate = try await farm.tryBerth(["gate", "--old", "legacy", "--new", "correct", "--policy", policy])
            #expect(gate.termination == .exited(2), "\(gate.outputText)")
        }
    }
}
