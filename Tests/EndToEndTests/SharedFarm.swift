import BerthCore
import BerthSystem
import BerthTestSupport
import Foundation

/// A farm of one test with several coordinators on one PostgreSQL database, and several hosts, each with its own sshd
/// and two slots.
actor SharedFarm {
    nonisolated let folder: TemporaryDirectory
    nonisolated let root: String
    private let database: String
    private let leaseSeconds: Int
    private(set) var servers: [TestSSHServer] = []
    private var agents: [ChildProcess] = []
    private var coordinators: [Int: ChildProcess] = [:]
    private var ports: [Int: Int] = [:]

    /// Starts coordinators 1, 2 … and hosts `host-1`, `host-2` …, and archives the sample builds.
    init(coordinators: Int, hosts: Int, leaseSeconds: Int = 12) async throws {
        folder = try TemporaryDirectory()
        root = folder.path
        self.leaseSeconds = leaseSeconds
        database = try await TestPostgresServer.started().makeDatabase()
        try await run("\(TestFarm.products)/berth-sim", ["tools", "\(root)/tools"])
        for number in 1...hosts { try await startHost(number) }
        for number in 1...coordinators { try await startCoordinator(number) }
        try await run(
            "\(packageRoot)/ops/sample-builds",
            ["--skip-build", "--products", TestFarm.products, "\(root)/builds"]
        )
        try await berth(1, ["build", "add", "\(root)/builds/legacy.app", "\(root)/builds/correct.app"])
        for (index, server) in servers.enumerated() {
            try await berth(
                1 + index % coordinators,
                [
                    "host", "add", "host-\(index + 1)", "--address", "127.0.0.1:\(server.port)", "--user", server.user,
                    "--identity", server.identityFile, "--host-key",
                    try server.hostKeyLine.trimmingCharacters(in: .newlines),
                ]
            )
        }
        try await waitForIdleSlots(hosts * 2, asking: 1)
    }

    private func startHost(_ number: Int) async throws {
        let place = "\(root)/host-\(number)"
        for name in ["ssh", "sockets", "cache"] { try DurableFile.makeFolder("\(place)/\(name)") }
        let attach =
            "\(TestFarm.products)/berth-agent attach --sockets \(place)/sockets --cache \(place)/cache"
        let server = try await TestSSHServer(directory: "\(place)/ssh", forcedCommand: attach)
        try await server.start()
        servers.append(server)
        for slot in 1...2 {
            agents.append(
                try ChildProcess.spawn(
                    ProcessSpecification(
                        executable: "\(TestFarm.products)/berth-agent",
                        arguments: [
                            "serve", "--slot", "sim-\(number)-\(slot)", "--state", "\(place)/slots/\(slot)",
                            "--sockets", "\(place)/sockets", "--cache", "\(place)/cache", "--xcrun",
                            "\(root)/tools/xcrun",
                        ],
                        environment: environment,
                        standardError: .appendingFile("\(place)/agents.log")
                    )
                )
            )
        }
    }

    func startCoordinator(_ number: Int) async throws {
        let data = "\(root)/coordinator-\(number)"
        let process = try ChildProcess.spawn(
            ProcessSpecification(
                executable: "\(TestFarm.products)/berth-coordinator",
                arguments: [
                    "serve", "--data", data, "--database", database, "--archive", "\(root)/archive", "--listen",
                    "127.0.0.1:\(ports[number] ?? 0)", "--lease-seconds", "\(leaseSeconds)",
                ],
                environment: TestFarm.environment,
                standardError: .appendingFile("\(root)/coordinator-\(number).log")
            )
        )
        coordinators[number] = process
        try await eventually("coordinator \(number) answers") {
            if let end = process.termination {
                throw TestFarm.Failure(description: "coordinator \(number) ended with \(end): \(log(number))")
            }
            guard let address = try? text("coordinator-\(number)/address"),
                let port = address.split(separator: ":").last.flatMap({ Int($0) })
            else { return false }
            ports[number] = port
            return (try? await berth(number, ["host", "list"])) != nil
        }
    }

    /// Sends a signal to a coordinator; after SIGKILL it is gone.
    func signal(_ signal: Int32, coordinator number: Int) async {
        guard let process = coordinators[number] else { return }
        kill(process.pid, signal)
        guard signal == SIGKILL || signal == SIGTERM else { return }
        _ = await process.wait()
        coordinators[number] = nil
    }

    func stop() async {
        for process in coordinators.values { await process.end(grace: .seconds(5)) }
        for agent in agents { await agent.end(grace: .seconds(5)) }
        for server in servers { await server.stop() }
    }

    /// Runs a `berth` command that must succeed, at one of the coordinators.
    @discardableResult
    func berth(_ coordinator: Int, _ arguments: [String]) async throws -> String {
        var environment = TestFarm.environment
        environment["BERTH_COORDINATOR"] = "http://127.0.0.1:\(ports[coordinator] ?? 0)"
        // The first one made the store's token.
        environment["BERTH_TOKEN_FILE"] = "\(root)/coordinator-1/admin.token"
        let result = try await CommandRunner.run(
            ProcessSpecification(
                executable: "\(TestFarm.products)/berth",
                arguments: arguments,
                environment: environment
            ),
            timeout: .seconds(60),
            outputLimit: 16 << 20
        )
        guard result.termination == .exited(0) else {
            throw TestFarm.Failure(
                description: "berth \(arguments) at \(coordinator): \(result.errorText)\(result.outputText)"
            )
        }
        return result.outputText
    }

    func json<Value: Decodable>(_ type: Value.Type, _ coordinator: Int, _ arguments: [String]) async throws -> Value {
        let output = try await berth(coordinator, arguments + ["--json"])
        return try CanonicalJSON.decode(type, from: Array(output.utf8), document: "berth's output")
    }

    func submit(at coordinator: Int, repeats: Int, cases: [String]) async throws -> BatchView {
        try await json(
            BatchView.self,
            coordinator,
            ["submit", "--old", "legacy", "--new", "correct", "--repeats", "\(repeats)"]
                + cases.flatMap { ["--case", $0] }
        )
    }

    func runs(of batch: String, asking coordinator: Int) async throws -> [RunView] {
        try await json([RunView].self, coordinator, ["run", "list", "--batch", batch])
    }

    func hosts(asking coordinator: Int) async throws -> [HostView] {
        try await json([HostView].self, coordinator, ["host", "list"])
    }

    func waitUntilFinished(_ batch: String, asking coordinator: Int) async throws -> [RunView] {
        var runs: [RunView] = []
        do {
            try await eventually("batch \(batch) has finished", within: .seconds(240)) {
                guard let now = try? await self.runs(of: batch, asking: coordinator) else { return false }
                runs = now
                return !now.isEmpty && now.allSatisfy { $0.state.successors.isEmpty }
            }
        } catch {
            throw TestFarm.Failure(
                description:
                    "\(error); \(runs.map { "\($0.id) \($0.state)" }); \(log(1).suffix(3000)); \(log(2).suffix(3000))"
            )
        }
        return runs
    }

    func waitForIdleSlots(_ count: Int, asking coordinator: Int) async throws {
        do {
            try await eventually("\(count) slots are idle") {
                try await hosts(asking: coordinator).flatMap(\.slots).count { $0.state == .idle } == count
            }
        } catch {
            throw TestFarm.Failure(description: "\(error); \(log(1).suffix(3000)); \(log(2).suffix(3000))")
        }
    }

    func log(_ coordinator: Int) -> String { (try? text("coordinator-\(coordinator).log")) ?? "" }

    private func text(_ name: String) throws -> String {
        String(decoding: try DurableFile.read("\(root)/\(name)", limit: 1 << 24), as: UTF8.self)
            .trimmingCharacters(in: .whitespacesAndNewlines)
    }

    private func run(_ executable: String, _ arguments: [String]) async throws {
        let result = try await CommandRunner.run(
            ProcessSpecification(executable: executable, arguments: arguments, environment: environment),
            timeout: .seconds(60)
        )
        guard result.termination == .exited(0) else {
            throw TestFarm.Failure(description: "\(executable): \(result.termination): \(result.errorText)")
        }
    }

    private var environment: [String: String] {
        TestFarm.environment.merging([
            "BERTH_SIM_RUNTIMES": "\(root)/runtimes", "BERTH_SIM_END_WITH": root,
        ]) { $1 }
    }
}
