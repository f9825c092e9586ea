import BerthCore
import BerthSystem
import Foundation

/// The verbs of `xcrun simctl`, the same on a Mac and with the simulated device of a Linux host.
/// Success of a verb is not taken as proof: what matters is read back.
package struct SimulatorTool: Sendable {
    /// Time limits of the verbs.
    package struct Limits: Sendable {
        package var list: Duration = .seconds(60)
        package var firstList: Duration = .seconds(300)
        package var create: Duration = .seconds(120)
        package var firstBoot: Duration = .seconds(600)
        package var boot: Duration = .seconds(180)
        package var install: Duration = .seconds(180)
        package var launch: Duration = .seconds(60)
        package var terminate: Duration = .seconds(30)
        package var container: Duration = .seconds(30)
        package var shutdown: Duration = .seconds(60)
        package var delete: Duration = .seconds(120)
        /// How long a transient failure is waited out before the one retry.
        package var pause: Duration = .seconds(5)

        package init() {}
    }

    package let xcrun: DeviceTool
    /// The private device set.
    package let set: String
    package let limits: Limits
    private let boot: BootIdentity

    package init(xcrun: DeviceTool, set: String, limits: Limits, boot: BootIdentity) {
        self.xcrun = xcrun
        self.set = set
        self.limits = limits
        self.boot = boot
    }

    /// The same tool, noting its calls for an attempt.
    package func recording(_ recorder: CallRecorder, pulse: ExecutorPulse) -> SimulatorTool {
        SimulatorTool(xcrun: xcrun.recording(recorder, pulse: pulse), set: set, limits: limits, boot: boot)
    }

    // MARK: The set

    package func list(limit: Duration? = nil) async throws -> SimulatorList {
        let result = try await simctl("list", ["-j"], limit: limit ?? limits.list)
        return try SimulatorList.parse(result.output)
    }

    /// Makes a device.
    /// - Returns: its UDID.
    package func create(name: String, type: String, runtime: String) async throws -> String {
        let result = try await simctl("create", [name, type, runtime], limit: limits.create)
        return try Self.udid(in: result.outputText, verb: "create")
    }

    /// Copies a device that is shut down.
    /// - Returns: the copy's UDID.
    package func clone(_ udid: String, name: String) async throws -> String {
        let result = try await simctl("clone", [udid, name], limit: limits.create)
        return try Self.udid(in: result.outputText, verb: "clone")
    }

    /// Boots a device and reads its state back.
    /// - Throws: `DeviceToolError` of kind `bootFailed` when it is not booted afterwards.
    package func boot(_ udid: String, first: Bool = false) async throws {
        let limit = first ? limits.firstBoot : limits.boot
        let result = try await retrying { try await simctl("bootstatus", [udid, "-b"], limit: limit) }
        if let problem = BootStatus.problem(in: result.outputText) {
            throw DeviceToolError(.bootFailed, verb: "bootstatus", details: problem)
        }
        let state = try await list().device(udid)?.device.state ?? "not in the set"
        guard state == "Booted" else {
            throw DeviceToolError(.bootFailed, verb: "bootstatus", details: "the device's state is \(state)")
        }
    }

    /// Shuts a device down; one that is shut down already is fine.
    package func shutdown(_ udid: String) async throws {
        do {
            try await retrying { try await simctl("shutdown", [udid], limit: limits.shutdown) }
        } catch let error as DeviceToolError where error.kind == .wrongState {
            guard try await list().device(udid)?.device.isShutdown == true else { throw error }
        }
    }

    package func delete(_ udid: String) async throws {
        try await retrying { try await simctl("delete", [udid], limit: limits.delete) }
    }

    // MARK: Apps

    /// Installs a bundle, over an older one if there is one.
    package func install(_ udid: String, bundle path: String) async throws {
        try await retrying { try await simctl("install", [udid, path], limit: limits.install) }
    }

    /// Starts an app; the process may already have ended when this returns.
    /// - Returns: its process ID on the host.
    package func launch(_ udid: String, _ launch: AppLaunch) async throws -> Int32 {
        let bundle = launch.bundle
        let options = [
            "--terminate-running-process", "--stdout=\(launch.standardOutput)", "--stderr=\(launch.standardError)",
        ]
        let environment = launch.environment.map { ("SIMCTL_CHILD_\($0.key)", $0.value) }
        let deadline = ContinuousClock.now + .seconds(10)
        var denied = false
        while true {
            do {
                let result = try await simctl(
                    "launch",
                    options + [udid, bundle] + launch.arguments,
                    environment: Dictionary(uniqueKeysWithValues: environment),
                    limit: limits.launch
                )
                let text = result.outputText.trimmingCharacters(in: .whitespacesAndNewlines)
                let line = text.split(separator: "\n").last { $0.hasPrefix("\(bundle): ") }
                guard let line, let pid = Int32(line.dropFirst(bundle.utf8.count + 2)), pid > 1 else {
                    throw DeviceToolError(
                        .unreadable,
                        verb: "launch",
                        details: "it named no process ID: \(text.prefix(200).debugDescription)"
                    )
                }
                return pid
            } catch let error as DeviceToolError where error.kind == .appUnknown && ContinuousClock.now < deadline {
                // Right after an installation the app is not always known yet.
                try await Task.sleep(for: .milliseconds(500))
            } catch let error as DeviceToolError where error.kind == .launchDenied && !denied {
                denied = true
            } catch let error as DeviceToolError where error.isTransient && !denied {
                denied = true
                try await Task.sleep(for: limits.pause)
            }
        }
    }

    /// Ends an app; one that does not run is fine.
    package func terminate(_ udid: String, _ bundle: String) async throws {
        do {
            try await simctl("terminate", [udid, bundle], limit: limits.terminate)
        } catch let error as DeviceToolError where error.kind == .nothingThere {
            return
        }
    }

    /// The host path of an app's container of kind `app` or `data`, which exists.
    package func container(_ udid: String, _ bundle: String, _ kind: String) async throws -> String {
        let result = try await simctl("get_app_container", [udid, bundle, kind], limit: limits.container)
        let path = result.outputText.trimmingCharacters(in: .newlines)
        guard path.hasPrefix("/"), FileManager.default.fileExists(atPath: path) else {
            throw DeviceToolError(
                .unreadable,
                verb: "get_app_container",
                details: "it named the \(kind) container \(path.prefix(300).debugDescription), which does not exist"
            )
        }
        return path
    }

    /// Boot and system of a booted device, as continuity needs them.
    package func identity(_ udid: String) async throws -> BootIdentity.Facts {
        try await boot.facts(of: udid, tool: self)
    }

    // MARK: Calls

    @discardableResult
    package func simctl(
        _ verb: String,
        _ arguments: [String],
        environment: [String: String] = [:],
        limit: Duration
    ) async throws -> CommandResult {
        let result = try await xcrun.call(
            verb,
            ["simctl", "--set", set, verb] + arguments,
            environment: environment,
            limit: limit
        )
        if let error = DeviceToolError.classify(verb: verb, result, limit: limit) { throw error }
        return result
    }

    /// Once more after a transient failure.
    @discardableResult
    private func retrying<Result>(_ body: () async throws -> Result) async throws -> Result {
        do {
            return try await body()
        } catch let error as DeviceToolError where error.isTransient {
            try await Task.sleep(for: limits.pause)
            return try await body()
        }
    }

    /// The last line that is a UDID; notes may come before it.
    static func udid(in output: String, verb: String) throws(DeviceToolError) -> String {
        let lines = output.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
        guard let udid = lines.last(where: { UUID(uuidString: $0) != nil }) else {
            throw DeviceToolError(.unreadable, verb: verb, details: "it named no UDID: \(output.prefix(200))")
        }
        return udid
    }
}
