import BerthSystem
import Foundation

/// A device set with runtimes of its own, driven through the real `berth-sim`. Its devices shut down when the folder
/// goes, also after a failed test.
final class SimulatorFixture: Sendable {
    let folder: TemporaryFolder
    let set: String
    private let program: String
    private let environment: [String: String]

    init() throws {
        folder = try TemporaryFolder()
        set = "\(folder.path)/set"
        program = try PackageFiles.product("berth-sim")
        try DurableFile.makeFolder(set)
        environment = [
            "HOME": "\(folder.path)/home",
            "PATH": "/usr/bin:/bin",
            "BERTH_SIM_RUNTIMES": "\(folder.path)/runtimes",
            "BERTH_SIM_END_WITH": folder.path,
        ]
    }

    /// What a command said and how it ended.
    struct Answer {
        let exit: Int32
        let output: String
        let error: String

        /// Standard output without the last line break.
        var line: String { output.trimmingCharacters(in: .newlines) }
    }

    /// Runs berth-sim with these arguments.
    func berthSim(_ arguments: [String], as name: String? = nil, adding: [String: String] = [:]) async throws -> Answer
    {
        try await run(
            ProcessSpecification(
                executable: program,
                arguments: arguments,
                argumentZero: name,
                environment: environment.merging(adding) { $1 }
            )
        )
    }

    /// Runs any program with this set's environment.
    func run(_ specification: ProcessSpecification) async throws -> Answer {
        let result = try await CommandRunner.run(specification, timeout: .seconds(40))
        let exit: Int32 = if case .exited(let status) = result.termination { status } else { -1 }
        return Answer(exit: exit, output: result.outputText, error: result.errorText)
    }

    /// The environment of a command with the tools of this set first in PATH.
    func toolEnvironment() async throws -> [String: String] {
        let tools = "\(folder.path)/tools"
        _ = try await berthSim(["tools", tools])
        return environment.merging(["PATH": "\(tools):/usr/bin:/bin"]) { $1 }
    }

    /// Runs `simctl --set <this set>`.
    func simctl(_ arguments: String..., adding: [String: String] = [:]) async throws -> Answer {
        try await berthSim(["simctl", "--set", set] + arguments, adding: adding)
    }

    /// Makes a device and boots it.
    func bootedDevice(_ name: String = "phone") async throws -> String {
        let udid = try await simctl("create", name, "Linux Phone").line
        let boot = try await simctl("boot", udid)
        guard boot.exit == 0 else { throw Failure(text: "boot answered \(boot.exit): \(boot.error)") }
        return udid
    }

    /// Installs a bundle that must be installable.
    func install(_ bundle: String, on udid: String) async throws {
        let answer = try await simctl("install", udid, bundle)
        guard answer.exit == 0 else { throw Failure(text: "install answered \(answer.exit): \(answer.error)") }
    }

    /// Launches an app that must be launchable.
    ///
    /// - Returns: its process ID.
    func launch(_ bundle: String, _ arguments: String..., on udid: String) async throws -> Int32 {
        let answer = try await berthSim(["simctl", "--set", set, "launch", udid, bundle] + arguments)
        guard answer.exit == 0, let process = answer.line.split(separator: " ").last.flatMap({ Int32($0) }) else {
            throw Failure(text: "launch answered \(answer.exit): \(answer.error)")
        }
        return process
    }

    func dataContainer(_ bundle: String, on udid: String) async throws -> String {
        try await simctl("get_app_container", udid, bundle, "data").line
    }

    /// What `device-info` says.
    func information(_ udid: String) async throws -> [String: Any] {
        let answer = try await berthSim(["device-info", "--set", set, udid])
        return try JSONSerialization.jsonObject(with: Data(answer.output.utf8)) as? [String: Any] ?? [:]
    }

    /// Makes an app bundle around a program of the host; a shell takes its script as arguments of the launch.
    func bundle(
        _ name: String = "App",
        identifier: String = "com.example.app",
        version: String = "1",
        program: String = "/bin/sh",
        information: [String: Any]? = nil
    ) throws -> String {
        let path = "\(folder.path)/\(name).app"
        try DurableFile.makeFolder(path)
        let file = URL(fileURLWithPath: program).resolvingSymlinksInPath().path
        try FileManager.default.copyItem(atPath: file, toPath: "\(path)/\(name)")
        let plist =
            information
            ?? [
                "CFBundleIdentifier": identifier, "CFBundleExecutable": name, "CFBundleName": name,
                "CFBundleVersion": version,
            ]
        try PropertyListSerialization.data(fromPropertyList: plist, format: .xml, options: 0)
            .write(to: URL(fileURLWithPath: "\(path)/Info.plist"))
        return path
    }

    /// Waits until a condition holds.
    ///
    /// - Throws: `Failure` after ten seconds.
    static func until(_ what: String, _ condition: () async throws -> Bool) async throws {
        let end = ContinuousClock.now + .seconds(10)
        while try await !condition() {
            guard ContinuousClock.now < end else { throw Failure(text: "waited in vain until \(what)") }
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    /// Whether a process runs; a zombie does not.
    static func isRunning(_ process: Int32) -> Bool {
        guard let text = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8),
            let end = text.lastIndex(of: ")")
        else { return false }
        return !text[end...].hasPrefix(") Z")
    }

    struct Failure: Error, CustomStringConvertible {
        let text: String
        var description: String { text }
    }
}
