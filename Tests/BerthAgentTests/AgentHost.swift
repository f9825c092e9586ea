import BerthAgent
import BerthCore
import BerthSystem
import BerthTestSupport
import Foundation
import Synchronization

/// A host of a test's own: folders, the simulated device's tools, and the processes of its agent.
final class AgentHost: Sendable {
    let directory: TemporaryDirectory
    private let processes = Mutex<[ChildProcess]>([])

    var root: String { directory.path }
    var state: String { root + "/state" }
    var sockets: String { root + "/sockets" }
    var cache: String { root + "/cache" }
    var bundles: String { root + "/bundles" }
    var log: String { (try? String(contentsOfFile: root + "/agent.log", encoding: .utf8)) ?? "" }

    init() throws {
        directory = try TemporaryDirectory()
        for name in ["state", "sockets", "cache", "bundles", "tools", "alive"] {
            try DurableFile.makeFolder(directory.path + "/" + name)
        }
        try FileManager.default.createSymbolicLink(
            atPath: root + "/tools/xcrun",
            withDestinationPath: Products.path("berth-sim")
        )
    }

    /// What the slot's journal says on disk.
    var journaled: JournalState { get throws { try Journal.state(path: state + "/journal") } }

    /// A file of the host's folder as text.
    func read(_ name: String) -> String? { try? String(contentsOfFile: "\(root)/\(name)", encoding: .utf8) }

    /// Puts a shell script before the real tool; it ends with running `real "$@"`.
    func wrapTool(_ lines: String) throws {
        let script = """
            #!/bin/bash
            real() {
                if [ "$1" = device-info ] || [ "$1" = fault ]; then exec '\(Products.path("berth-sim"))' "$@"; fi
                exec '\(root)/tools/xcrun' "$@"
            }
            root='\(root)'
            \(lines)
            real "$@"
            """
        try Data(script.utf8).write(to: URL(fileURLWithPath: root + "/tools/wrapped"))
        chmod(root + "/tools/wrapped", 0o755)
    }

    /// Starts the slot's agent, by way of another program if one is given, and returns when it takes connections, or when
    /// it has ended.
    @discardableResult
    func serve(
        _ more: [String] = [],
        by program: [String] = [],
        wrapped: Bool = false,
        waits: Bool = true
    ) async throws -> ChildProcess {
        unlink(sockets + "/sim-1.sock")
        let words =
            program + [
                Products.path("berth-agent"), "serve", "--slot", "sim-1", "--state", state, "--sockets", sockets,
                "--cache", cache, "--xcrun", root + (wrapped ? "/tools/wrapped" : "/tools/xcrun"),
            ] + more
        let process = try ChildProcess.spawn(
            ProcessSpecification(
                executable: words[0],
                arguments: Array(words.dropFirst()),
                environment: environment,
                standardError: .appendingFile(root + "/agent.log")
            )
        )
        processes.withLock { $0.append(process) }
        guard waits else { return process }
        try await eventually("the agent listens") {
            if let end = process.termination { throw TestFailure("the agent ended with \(end): \(log)") }
            return access(sockets + "/sim-1.sock", F_OK) == 0
        }
        return process
    }

    /// Opens a channel as the coordinator does.
    func attach(term: UInt64 = 1, lease: Int64 = 30_000, renews: Bool = true) async throws -> CoordinatorEnd {
        let coordinator = try CoordinatorEnd(self, renews: renews)
        processes.withLock { $0.append(coordinator.process) }
        try coordinator.send(
            .hello(
                CoordinatorHello(
                    coordinator: "test",
                    term: term,
                    leaseMilliseconds: lease,
                    heartbeatMilliseconds: 50
                )
            )
        )
        return coordinator
    }

    var environment: [String: String] {
        [
            "PATH": "/usr/bin:/bin", "HOME": root, "BERTH_SIM_RUNTIMES": root + "/runtimes",
            "BERTH_SIM_PHONES": root + "/phones",
            // Devices that are still booted shut down with this folder.
            "BERTH_SIM_END_WITH": root + "/alive",
        ]
    }

    /// What the simulator says.
    func simctl(_ arguments: [String]) async throws -> String {
        let result = try await CommandRunner.run(
            ProcessSpecification(
                executable: root + "/tools/xcrun",
                arguments: ["simctl", "--set", state + "/devices"] + arguments,
                environment: environment
            ),
            timeout: .seconds(30)
        )
        return result.outputText
    }

    /// Shuts down what is still booted, as the end of a host does, and performs the body before anything is booted again.
    func restart(_ body: () async throws -> Void) async throws {
        try FileManager.default.removeItem(atPath: root + "/alive")
        try await body()
        try DurableFile.makeFolder(root + "/alive")
    }

    /// Ends all processes.
    func end() async {
        for process in processes.withLock({ $0 }) where process.termination == nil {
            process.signalGroup(SIGKILL)
            _ = await process.wait()
        }
        try? FileManager.default.removeItem(atPath: root + "/alive")
    }

    /// Runs a test's body on a host, and ends all that it started.
    static func run(_ body: (AgentHost) async throws -> Void) async throws {
        let host = try AgentHost()
        do {
            try await body(host)
        } catch {
            await host.end()
            throw TestFailure("\(error)\nthe agent's log:\n\(host.log.suffix(4000))")
        }
        await host.end()
    }
}

extension JournalState {
    /// Nothing is under way, and the coordinator has all results.
    var isSettled: Bool { running == nil && unacknowledged.isEmpty }
}
