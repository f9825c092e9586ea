import BerthCore
import BerthSystem
import BerthTestSupport
import Foundation

/// A whole farm of one test: sshd, coordinator, agents, simulated devices and archived sample builds, all under one
/// folder, driven by the command line as its users do.
actor TestFarm {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    nonisolated let folder: TemporaryDirectory
    nonisolated let ssh: TestSSHServer
    nonisolated let root: String
    private let leaseSeconds: Int
    private let preservedLimit: Int
    private let archive: String?
    private(set) var coordinator: ChildProcess?
    private var agents: [String: ChildProcess] = [:]
    private var port = 0

    static let sampleBuilds = [
        "legacy", "correct", "renamed-query", "claims-success", "accessibility-filter", "deletes-corrupt",
        "delete-first", "trusts-marker", "group-changed", "broad-delete", "writes-again", "production",
        "production-reacts", "transitional",
    ]

    /// Where the built programs lie: beside the test bundle.
    static let products: String = {
        let executable = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        let own = CommandLine.arguments.first { $0.contains(".xctest") } ?? executable
        return URL(fileURLWithPath: own).deletingLastPathComponent().path
    }()

    private init(
        folder: TemporaryDirectory,
        ssh: TestSSHServer,
        leaseSeconds: Int,
        preservedLimit: Int,
        archive: String?
    ) {
        self.folder = folder
        self.ssh = ssh
        self.leaseSeconds = leaseSeconds
        self.preservedLimit = preservedLimit
        self.archive = archive
        root = folder.path
    }

    /// Starts a farm with slots `sim-1` …, with slots `phone-1` … for stand-in phones, and the sample builds archived, all
    /// slots idle. The coordinator's data and archive lie in folders of their own if they are given. `wrapAttach` makes the host's forced command of that of a real host.
    static func start(
        slots: Int,
        phones: Int = 0,
        leaseSeconds: Int = 15,
        preservedLimit: Int = 20,
        builds: [String] = ["legacy", "correct", "renamed-query", "claims-success"],
        data: String? = nil,
        archive: String? = nil,
        wrapAttach: (String) -> String = { $0 }
    ) async throws -> TestFarm {
        let folder = try TemporaryDirectory()
        for name in ["ssh", "sockets", "cache"] { try DurableFile.makeFolder("\(folder.path)/\(name)") }
        let attach = "\(products)/berth-agent attach --sockets \(folder.path)/sockets --cache \(folder.path)/cache"
        let ssh = try await TestSSHServer(directory: "\(folder.path)/ssh", forcedCommand: wrapAttach(attach))
        let farm = TestFarm(
            folder: folder,
            ssh: ssh,
            leaseSeconds: leaseSeconds,
            preservedLimit: preservedLimit,
            archive: archive
        )
        if let data {
            try FileManager.default.createSymbolicLink(
                atPath: "\(folder.path)/coordinator",
                withDestinationPath: data
            )
        }
        try await ssh.start()
        try await farm.command("\(products)/berth-sim", ["tools", "\(folder.path)/tools"])
        for number in 1...slots { try await farm.startAgent("sim-\(number)") }
        for number in 0..<phones {
            let name = "phone-\(number + 1)"
            try await farm.command("\(products)/berth-sim", ["phone", "create", name, "--udid", name])
            try await farm.startAgent(name)
        }
        try await farm.startCoordinator()
        try await farm.command(
            "\(packageRoot)/ops/sample-builds",
            ["--skip-build", "--products", products, "\(folder.path)/builds"]
        )
        try await farm.berth(["build", "add"] + builds.map { "\(folder.path)/builds/\($0).app" })
        try await farm.berth([
            "host", "add", "test-host", "--address", "127.0.0.1:\(ssh.port)", "--user", ssh.user,
            "--identity", ssh.identityFile, "--host-key", try ssh.hostKeyLine.trimmingCharacters(in: .newlines),
        ])
        try await farm.waitForIdleSlots(slots + phones)
        return farm
    }

    /// Ends everything that the farm started.
    func stop() async {
        if let coordinator { await coordinator.end(grace: .seconds(5)) }
        for agent in agents.values { await agent.end(grace: .seconds(5)) }
        await ssh.stop()
    }

    /// Starts the coordinator, or starts it again on the same data and port.
    func startCoordinator() async throws {
        let process = try ChildProcess.spawn(
            ProcessSpecification(
                executable: "\(Self.products)/berth-coordinator",
                arguments: [
                    "serve", "--data", "\(root)/coordinator", "--listen", "127.0.0.1:\(port)",
                    "--lease-seconds", "\(leaseSeconds)", "--allow-proxy-commands",
                ] + (archive.map { ["--archive", $0] } ?? []),
                environment: Self.environment,
                standardError: .appendingFile("\(root)/coordinator.log")
            )
        )
        coordinator = process
        try await eventually("the coordinator answers") {
            if let end = process.termination {
                throw Failure(description: "the coordinator ended with \(end): \(log("coordinator.log"))")
            }
            guard let address = try? text("coordinator/address"),
                let number = address.split(separator: ":").last.flatMap({ Int($0) })
            else { return false }
            port = number
            return (try? await berth(["host", "list"])) != nil
        }
    }

    /// Kills the coordinator as a power cut would.
    func killCoordinator() async {
        guard let coordinator else { return }
        kill(coordinator.pid, SIGKILL)
        _ = await coordinator.wait()
        self.coordinator = nil
    }

    func startAgent(_ slot: String) async throws {
        agents[slot] = try ChildProcess.spawn(agentSpecification(slot))
    }

    /// Kills a slot's agent as a power cut would, but for its device.
    func killAgent(_ slot: String) async {
        guard let agent = agents.removeValue(forKey: slot) else { return }
        kill(agent.pid, SIGKILL)
        _ = await agent.wait()
    }

    /// Sets the host up anew, as a provider of machines does: nothing is left of what its agents knew or had.
    func resetHost() async throws {
        let slots = agents.keys.sorted()
        for slot in slots { await agents.removeValue(forKey: slot)?.end(grace: .seconds(5)) }
        for name in ["slots", "cache"] {
            try FileManager.default.removeItem(atPath: "\(root)/\(name)")
        }
        try DurableFile.makeFolder("\(root)/cache")
        for slot in slots { try await startAgent(slot) }
    }

    func agentSpecification(_ slot: String) -> ProcessSpecification {
        let isPhone = slot.hasPrefix("phone-")
        let device = ["--kind", "hardware", "--device", slot, "--locks", "\(root)/locks", "--hold-minutes", "0"]
        return ProcessSpecification(
            executable: "\(Self.products)/berth-agent",
            arguments: [
                "serve", "--slot", slot, "--state", "\(root)/slots/\(slot)", "--sockets", "\(root)/sockets",
                "--cache", "\(root)/cache", "--xcrun", "\(root)/tools/xcrun",
            ] + (isPhone ? device : ["--preserved-limit", "\(preservedLimit)"]),
            environment: simulatorEnvironment,
            standardError: .appendingFile("\(root)/agent-\(slot).log")
        )
    }

    /// With everything that berth-sim keeps under the farm's folder.
    private nonisolated var simulatorEnvironment: [String: String] {
        var environment = Self.environment
        environment["BERTH_SIM_RUNTIMES"] = "\(root)/runtimes"
        environment["BERTH_SIM_PHONES"] = "\(root)/phones"
        environment["BERTH_SIM_END_WITH"] = root
        return environment
    }

    /// Runs a `berth` command that must succeed.
    @discardableResult
    func berth(_ arguments: [String]) async throws -> String {
        let result = try await tryBerth(arguments)
        guard result.termination == .exited(0) else {
            throw Failure(
                description:
                    "berth \(arguments.joined(separator: " ")): \(result.termination): \(result.errorText)\(result.outputText)"
            )
        }
        return result.outputText
    }

    /// Runs a `berth` command, however it ends.
    func tryBerth(_ arguments: [String], token: String? = nil) async throws -> CommandResult {
        try await CommandRunner.run(
            berthSpecification(arguments, token.map { ["BERTH_TOKEN": $0] } ?? [:]),
            timeout: .seconds(60),
            outputLimit: 16 << 20
        )
    }

    /// Starts a `berth` command that stays; the test waits for it.
    func spawnBerth(_ arguments: [String], _ environment: [String: String]) throws -> ChildProcess {
        try ChildProcess.spawn(berthSpecification(arguments, environment))
    }

    private func berthSpecification(_ arguments: [String], _ additions: [String: String]) -> ProcessSpecification {
        var environment = Self.environment.merging(additions) { _, addition in addition }
        environment["BERTH_COORDINATOR"] = "http://127.0.0.1:\(port)"
        environment["BERTH_TOKEN_FILE"] = "\(root)/coordinator/admin.token"
        return ProcessSpecification(
            executable: "\(Self.products)/berth",
            arguments: arguments,
            environment: environment
        )
    }

    /// What a `berth` command prints as JSON.
    func json<Value: Decodable>(_ type: Value.Type, _ arguments: [String]) async throws -> Value {
        try CanonicalJSON.decode(
            type,
            from: Array(try await berth(arguments + ["--json"]).utf8),
            document: "berth's output"
        )
    }

    /// Submits the sample builds; gives the batch.
    func submit(
        new: [String],
        cases: [String],
        platform: Platform = .linuxSimulated,
        repeats: Int = 1
    ) async throws -> BatchView {
        try await json(
            BatchView.self,
            ["submit", "--old", "legacy"] + new.flatMap { ["--new", $0] } + cases.flatMap { ["--case", $0] }
                + ["--platform", platform.rawValue, "--repeats", "\(repeats)"]
        )
    }

    func runs(of batch: String) async throws -> [RunView] {
        try await json([RunView].self, ["run", "list", "--batch", batch])
    }

    func waitUntilFinished(_ batch: String, within limit: Duration = .seconds(240)) async throws -> [RunView] {
        var runs: [RunView] = []
        do {
            try await eventually("batch \(batch) has finished", within: limit) {
                guard let now = try? await self.runs(of: batch) else { return false }
                runs = now
                return !now.isEmpty && now.allSatisfy { $0.state.successors.isEmpty }
            }
        } catch {
            throw Failure(description: "\(error); runs: \(runs.map { "\($0.id) \($0.state)" }); \(logs())")
        }
        return runs
    }

    func waitForIdleSlots(_ count: Int) async throws {
        do {
            try await eventually("\(count) slots are idle") {
                let hosts = try await json([HostView].self, ["host", "list"])
                return hosts.flatMap(\.slots).filter { $0.state == .idle }.count == count
            }
        } catch {
            throw Failure(description: "\(error); \(logs())")
        }
    }

    func ledger(_ kind: DeviceKind = .simulator) async throws -> LedgerView {
        try await json(LedgerView.self, ["ledger", kind.rawValue])
    }

    private func command(_ executable: String, _ arguments: [String]) async throws {
        let result = try await CommandRunner.run(
            ProcessSpecification(executable: executable, arguments: arguments, environment: simulatorEnvironment),
            timeout: .seconds(60)
        )
        guard result.termination == .exited(0) else {
            throw Failure(description: "\(executable): \(result.termination): \(result.errorText)")
        }
    }

    private func text(_ name: String) throws -> String {
        String(decoding: try DurableFile.read("\(root)/\(name)", limit: 1 << 24), as: UTF8.self)
            .trimmingCharacters(in: .whitespacesAndNewlines)
    }

    func log(_ name: String) -> String { (try? text(name)) ?? "" }

    private func logs() -> String {
        (["coordinator.log"] + agents.keys.sorted().map { "agent-\($0).log" })
            .map { "\($0): \(log($0).suffix(3000))" }.joined(separator: "\n")
    }

    static let environment = [
        "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin",
        "HOME": NSTemporaryDirectory(),
    ]
}

let packageRoot = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().path
