import BerthCore
import BerthSystem
import Foundation

/// The verbs of `xcrun devicectl` for one phone, by its hardware UDID. Only the tool's JSON files decide.
package struct DevicectlTool: Sendable {
    /// Time limits of the verbs. The first call of a session opens a tunnel to the phone and mounts its developer image,
    /// which takes minutes now and then.
    package struct Limits: Sendable {
        package var first: Duration = .seconds(180)
        package var list: Duration = .seconds(60)
        package var information: Duration = .seconds(60)
        package var install: Duration = .seconds(300)
        package var uninstall: Duration = .seconds(120)
        package var launch: Duration = .seconds(120)
        package var terminate: Duration = .seconds(60)
        package var copy: Duration = .seconds(120)
        /// How long a transient failure is waited out before the one retry.
        package var pause: Duration = .seconds(2)

        package init() {}
    }

    package let xcrun: DeviceTool
    package let udid: String
    /// Folder for the tool's JSON files.
    package let folder: String
    package let limits: Limits

    package init(xcrun: DeviceTool, udid: String, folder: String, limits: Limits) {
        self.xcrun = xcrun
        self.udid = udid
        self.folder = folder
        self.limits = limits
    }

    /// The same tool, noting its calls for an attempt.
    package func recording(_ recorder: CallRecorder, pulse: ExecutorPulse) -> DevicectlTool {
        DevicectlTool(xcrun: xcrun.recording(recorder, pulse: pulse), udid: udid, folder: folder, limits: limits)
    }

    // MARK: The phone

    /// The phone's entry in the list of devices.
    /// - Throws: `DeviceToolError` of kind `deviceAbsent` when it is not there.
    package func phone() async throws -> DevicectlDevice {
        let list = try await call("list devices", device: false, as: DevicectlResults.Devices.self, limit: limits.list)
        guard let phone = list.phone(udid) else {
            throw error(
                .deviceAbsent,
                "list devices",
                "no device \(udid) is listed; connect it, unlock it and look at its cable"
            )
        }
        return phone
    }

    package func details() async throws -> DevicectlDevice {
        try await call("device info details", as: DevicectlDevice.self, limit: limits.first)
    }

    package func lockState() async throws -> DevicectlResults.LockState {
        try await call("device info lockState", as: DevicectlResults.LockState.self, limit: limits.first)
    }

    package func developerImage() async throws -> DevicectlResults.DeveloperImage {
        try await call("device info ddiServices", as: DevicectlResults.DeveloperImage.self, limit: limits.first)
    }

    // MARK: Apps

    package func application(_ bundle: String) async throws -> DevicectlResults.Applications.Application? {
        let list = try await call(
            "device info apps",
            ["--bundle-id", bundle],
            as: DevicectlResults.Applications.self,
            limit: limits.information
        )
        return list.apps.first { $0.bundleIdentifier == bundle }
    }

    package func install(_ path: String) async throws -> DevicectlResults.Installation {
        try await call(
            "device install app",
            words: [path],
            as: DevicectlResults.Installation.self,
            limit: limits.install
        )
    }

    package func uninstall(_ bundle: String) async throws {
        _ = try await call(
            "device uninstall app",
            words: [bundle],
            as: DevicectlResults.Nothing.self,
            limit: limits.uninstall
        )
    }

    package func launch(_ launch: AppLaunch) async throws -> DevicectlResults.Process {
        let environment = launch.environment.map { ("DEVICECTL_CHILD_\($0.key)", $0.value) }
        let result = try await call(
            "device process launch",
            ["--terminate-existing"],
            words: [launch.bundle] + launch.arguments,
            environment: Dictionary(uniqueKeysWithValues: environment),
            as: DevicectlResults.Launch.self,
            limit: limits.launch
        )
        return result.process
    }

    package func processes() async throws -> [DevicectlResults.Process] {
        let result = try await call(
            "device info processes",
            as: DevicectlResults.Processes.self,
            limit: limits.information
        )
        return result.runningProcesses
    }

    /// Ends a process by its ID.
    /// - Throws: `DeviceToolError` of kind `nothingThere` when there is none.
    package func terminate(_ pid: Int32, kill: Bool) async throws {
        _ = try await call(
            "device process terminate",
            ["--pid", "\(pid)"] + (kill ? ["--kill"] : []),
            as: DevicectlResults.Nothing.self,
            limit: limits.terminate
        )
    }

    // MARK: Files

    /// The place of a file on the phone: the data container of an app, or the crash logs.
    package enum Domain: Sendable {
        case container(of: String)
        case crashLogs

        fileprivate var options: [String] {
            switch self {
            case .container(let bundle): ["--domain-type", "appDataContainer", "--domain-identifier", bundle]
            case .crashLogs: ["--domain-type", "systemCrashLogs"]
            }
        }
    }

    package func files(in domain: Domain) async throws -> [DevicectlResults.Files.File] {
        let result = try await call(
            "device info files",
            domain.options,
            as: DevicectlResults.Files.self,
            limit: limits.information
        )
        return result.files
    }

    /// The content of a file on the phone, or nil when the copy is longer than a limit.
    package func read(_ path: String, in domain: Domain, limit: Int) async throws -> [UInt8]? {
        let copy = "\(folder)/copy-\(Hex.encode(RandomBytes.make(8)))"
        defer { unlink(copy) }
        _ = try await call(
            "device copy from",
            domain.options + ["--source", path, "--destination", copy],
            as: DevicectlResults.Nothing.self,
            limit: limits.copy
        )
        do {
            return try DurableFile.read(copy, limit: limit)
        } catch let error as SystemError where error.code == EFBIG {
            return nil
        } catch {
            throw self.error(.unreadable, "device copy from", "the copy of \(path) is not there: \(error)")
        }
    }

    // MARK: Calls

    /// One call, and once more after a transient failure.
    private func call<Result: Decodable & Sendable>(
        _ verb: String,
        _ options: [String] = [],
        device: Bool = true,
        words: [String] = [],
        environment: [String: String] = [:],
        as type: Result.Type,
        limit: Duration
    ) async throws -> Result {
        var arguments = ["devicectl"] + verb.split(separator: " ").map(String.init)
        if device { arguments += ["--device", udid] }
        arguments += options
        do {
            return try await once(verb, arguments, words, environment, as: type, limit: limit)
        } catch let error as DeviceToolError where error.isTransient {
            try await Task.sleep(for: limits.pause)
            return try await once(verb, arguments, words, environment, as: type, limit: limit)
        }
    }

    private func once<Result: Decodable & Sendable>(
        _ verb: String,
        _ arguments: [String],
        _ words: [String],
        _ environment: [String: String],
        as type: Result.Type,
        limit: Duration
    ) async throws -> Result {
        // The file is made beforehand, so that one that is missing afterwards was taken away.
        let file = "\(folder)/report-\(Hex.encode(RandomBytes.make(8))).json"
        try DurableFile.replace(file, with: [])
        defer { unlink(file) }
        // The tool's own limit comes a little earlier: then it still writes what it knows.
        let own = max(5, limit.components.seconds - 10)
        var all = arguments + ["--json-output", file, "--quiet", "--timeout", "\(own)"]
        // Without the dashes an app's arguments would be taken for the tool's.
        if !words.isEmpty { all += ["--"] + words }
        let name = verb.replacingOccurrences(of: " ", with: "-")
        let result = try await xcrun.call(name, all, environment: environment, report: file, limit: limit)
        let bytes = (try? DurableFile.read(file, limit: DeviceTool.reportLimit)) ?? []
        return try Self.judge(verb, result, report: bytes, as: type, limit: limit)
    }

    /// What a finished call with its report means.
    /// - Throws: `DeviceToolError`
    package static func judge<Result: Decodable & Sendable>(
        _ verb: String,
        _ result: CommandResult,
        report bytes: [UInt8],
        as type: Result.Type,
        limit: Duration
    ) throws(DeviceToolError) -> Result {
        func error(_ kind: DeviceToolError.Kind, _ details: String) -> DeviceToolError {
            DeviceToolError(kind, tool: "devicectl", verb: verb, details: details)
        }
        if result.timedOut {
            throw error(.timedOut, "it did not end within \(limit.components.seconds) s and was killed")
        }
        let succeeded = result.termination == .exited(0)
        let report: DevicectlReport<Result>
        do {
            report = try CanonicalJSON.decode(DevicectlReport<Result>.self, from: bytes, document: "its JSON file")
        } catch let problem {
            if succeeded {
                throw error(
                    .unreadable,
                    bytes.isEmpty ? "it wrote no JSON file" : "its JSON file is unreadable: \(problem)"
                )
            }
            let text = result.errorText.trimmingCharacters(in: .whitespacesAndNewlines)
            if result.termination == .exited(64) { throw error(.usage, String(text.prefix(300))) }
            guard let failure = DevicectlFailure.inText(text) else {
                throw error(.other, "\(result.termination), without a report: \(text.prefix(300))")
            }
            throw error(failure.kind, failure.words)
        }
        if let failure = report.error { throw error(failure.kind, failure.words) }
        guard succeeded, report.info.outcome == "success" else {
            throw error(.other, "\(result.termination), outcome \(report.info.outcome), and no error is named")
        }
        guard let value = report.result else { throw error(.unreadable, "its JSON file holds no result") }
        return value
    }

    func error(_ kind: DeviceToolError.Kind, _ verb: String, _ details: String) -> DeviceToolError {
        DeviceToolError(kind, tool: "devicectl", verb: verb, details: details)
    }
}
