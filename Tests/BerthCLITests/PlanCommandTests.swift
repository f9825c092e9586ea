#if os(Linux)
    import BerthCore
    import BerthSystem
    import BerthTestSupport
    import Testing

    @testable import berth

    @Suite("Plans, replays and cancellations", .timeLimit(.minutes(1)))
    struct PlanCommandTests {
        private static let plan = "format: 1\nold: a\nnew:\n  - b\n  - c\ncases: update\n"

        private func file(_ text: String, in folder: TemporaryDirectory) throws -> String {
            let path = "\(folder.path)/plan.yaml"
            try DurableFile.replace(path, with: Array(text.utf8))
            return path
        }

        @Test("A plan is checked without any coordinator; what is wrong stands with file, line and column")
        func offline() async throws {
            let folder = try TemporaryDirectory()
            let path = try file(Self.plan, in: folder)
            let cli = CLIFixture()
            #expect(await cli.run("plan", "check", path, "--offline") == .success, "\(cli.errorOutput)")
            #expect(cli.output.contains("is a plan: 2 paths in 1 cases"))
            // Without a coordinator, names are not silently left unchecked.
            #expect(await cli.run("plan", "check", path) == .usage)
            #expect(cli.errorOutput.contains("which coordinator?"))
            let wrong = CLIFixture()
            let broken = try file(Self.plan + "repeat: 2\n", in: folder)
            #expect(await wrong.run("plan", "check", broken, "--offline") == .badInput)
            #expect(wrong.errorOutput.contains("\n\(broken):7:1: \"repeat\" is no key of a plan; there are"))
            #expect(await wrong.run("submit", "--plan", "\(folder.path)/absent.yaml") == .missingInput)
            #expect(await wrong.run("submit", "--plan", path, "--old", "x") == .usage)
        }

        @Test("What the coordinator finds wrong is told by line; a batch's warnings go to standard error")
        func refusal() async throws {
            let folder = try TemporaryDirectory()
            let path = try file(Self.plan, in: folder)
            let problem = PlanProblem(place: "paths[1][1]", code: "unknown-build", message: "no build is called c")
            let refusing = try HTTPPeer { _ in
                let body = ErrorBody(code: "plan-refused", message: "all of it", problems: [problem])
                return try Sample.answer(body, status: 422)
            }
            let cli = CLIFixture()
            let environment = ["BERTH_COORDINATOR": refusing.address]
            #expect(await cli.run("submit", "--plan", path, environment: environment) == .badInput)
            #expect(cli.errorOutput.hasSuffix("\n\(path):5:5: no build is called c\n"))
            let accepting = try HTTPPeer { _ in
                let batch = Sample.batch(Sample.run("r-1", .queued)).with(warnings: ["look at it"])
                return try Sample.answer(batch, status: 201)
            }
            let other = CLIFixture()
            #expect(
                await other.run("submit", "--plan", path, environment: ["BERTH_COORDINATOR": accepting.address])
                    == .success
            )
            #expect(other.errorOutput == "berth: warning: look at it\n" && other.output.contains("queued: 1 runs"))
            let sent = try #require(accepting.requests.first)
            #expect(sent.path == "/v1/plans")
            let plan = try CanonicalJSON.decode(Plan.self, from: sent.body, document: "plan")
            #expect(plan.paths == [["a", "b"], ["a", "c"]])
        }

        @Test("A replay names one thing; times are days, instants or a time ago; cancel knows runs from batches")
        func replayAndCancel() async throws {
            let peer = try HTTPPeer { request in
                if request.path.hasSuffix("/cancel") {
                    return try Sample.answer(Sample.run("r-1", .cancelled, .cancelled))
                }
                return try Sample.answer(Sample.batch(Sample.run("r-1", .queued)), status: 201)
            }
            let environment = ["BERTH_COORDINATOR": peer.address]
            let cli = CLIFixture()
            #expect(await cli.run("replay", "r-5", environment: environment) == .success)
            let days = ["replay", "--since", "2026-01-31", "--until", "2026-02-01T12:30:00Z", "--ledger", "hardware"]
            let program = Program(environment: environment, console: cli.console)
            #expect(await program.run(days) == .success)
            let sent = try peer.requests.map {
                try CanonicalJSON.decode(ReplayRequest.self, from: $0.body, document: "request")
            }
            let expected = ReplayRequest(since: 1_769_817_600_000, until: 1_769_949_000_000, ledger: .hardware)
            #expect(sent == [ReplayRequest(run: "r-5"), expected])
            for words in [
                ["replay"], ["replay", "r-1", "--batch", "b-1"], ["replay", "r-1", "--until", "1h"],
                ["replay", "--since", "2026-02-30"], ["replay", "--since", "soon"], ["cancel", "x-1"], ["cancel"],
            ] {
                #expect(await program.run(words) == .usage, "\(words)")
            }
            #expect(Instant.milliseconds("2h", now: 10_000_000) == 2_800_000)
            #expect(await cli.run("cancel", "r-1", environment: environment) == .success)
            #expect(peer.requests.last?.path == "/v1/runs/r-1/cancel" && cli.output.hasSuffix("r-1 is cancelled\n"))
        }
    }
#endif
