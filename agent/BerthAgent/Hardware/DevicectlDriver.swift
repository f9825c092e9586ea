import BerthArchive
import BerthCore
import BerthSystem
import Foundation

/// Drives one phone through `xcrun devicectl`. The phone is the same for all attempts, and its keychain items survive
/// everything that a host can do to it: so each attempt ends with the app's own exact cleanup, and where that is not
/// proved the slot takes no other.
package struct DevicectlDriver: Sendable {
    /// What the slot was asked for.
    package struct Wish: Sendable {
        /// The phone's hardware UDID.
        package let udid: String
        /// How long a phone is kept for a person after a failure.
        package let hold: Duration
        /// How long a launch may take to write its status file.
        package let statusTimeout: Duration

        package init(udid: String, hold: Duration, statusTimeout: Duration) {
            self.udid = udid
            self.hold = hold
            self.statusTimeout = statusTimeout
        }
    }

    static let log = Log(component: "hardware")
    /// How long a phone that could not be reached for its cleanup is left alone.
    static let retryPause: Duration = .seconds(60)

    package let facts: DeviceFacts
    /// Tool name to version line.
    package let tools: [String: String]
    let tool: DevicectlTool
    let wish: Wish
    /// The slot's state folder.
    let state: String
    /// The host's cache, from which a cleanup takes the builds again.
    let cache: BlobDirectory
    let records: HardwareRecordFile
    let release: ReleaseRequest

    /// Asks the tool who it is, and the phone what it is.
    /// - Throws: `DeviceToolError`, `AgentFailure`, `SystemError`
    package static func prepare(
        tool xcrun: DeviceTool,
        state: String,
        cache: BlobDirectory,
        limits: DevicectlTool.Limits,
        wish: Wish
    ) async throws -> DevicectlDriver {
        let (platform, tools) = try await ask(xcrun, limit: limits.first)
        let folder = state + "/devicectl"
        // What a dead agent left of the tool's files.
        try Folders.remove(folder)
        try DurableFile.makeFolder(folder)
        let tool = DevicectlTool(xcrun: xcrun, udid: wish.udid, folder: folder, limits: limits)
        let phone = try await tool.phone()
        guard let os = phone.os else {
            throw AgentFailure(.toolUnavailable, "devicectl does not say which system \(wish.udid) has")
        }
        let identity = "phone-" + String(Hex.encode(SHA256.digest(of: Array(wish.udid.uppercased().utf8))).prefix(16))
        let driver = DevicectlDriver(
            facts: DeviceFacts(identity: identity, platform: platform, model: phone.model ?? "unknown", os: os),
            tools: tools,
            tool: tool,
            wish: wish,
            state: state,
            cache: cache,
            records: try HardwareRecordFile(state: state),
            release: ReleaseRequest(state: state)
        )
        driver.holdAfterDeath()
        return driver
    }

    /// Who the tool says that it is: our own never counts as Apple's.
    private static func ask(_ xcrun: DeviceTool, limit: Duration) async throws -> (Platform, [String: String]) {
        let result = try await xcrun.call("devicectl-version", ["devicectl", "--version"], limit: limit)
        let line = result.outputText.split(separator: "\n").first.map(String.init) ?? ""
        guard result.termination == .exited(0), !line.isEmpty else {
            let words = result.errorText.trimmingCharacters(in: .whitespacesAndNewlines).prefix(300)
            throw DeviceToolError(
                result.timedOut ? .timedOut : .notStarted,
                tool: "devicectl",
                verb: "--version",
                details: "\(result.termination): \(words); Xcode 15 or newer is needed"
            )
        }
        guard line.contains("berth-sim") else {
            let xcode = try await xcrun.call("xcodebuild", ["xcodebuild", "-version"], limit: limit)
            let version = xcode.outputText.split(separator: "\n").joined(separator: ", ")
            return (.iosDevice, ["devicectl": line, "xcode": version.isEmpty ? "unknown" : version])
        }
        return (.standIn, ["devicectl": line])
    }

    /// The same driver, noting its calls.
    package func recording(_ recorder: CallRecorder, pulse: ExecutorPulse) -> any DeviceDriver {
        DevicectlDriver(
            facts: facts,
            tools: tools,
            tool: tool.recording(recorder, pulse: pulse),
            wish: wish,
            state: state,
            cache: cache,
            records: records,
            release: release
        )
    }

    // MARK: Readiness

    /// Makes sure that the phone can be worked with now.
    /// - Throws: `DeviceToolError` whose kind names what a person has to do.
    func checkReadiness() async throws -> DevicectlDevice {
        let phone = try await tool.phone()
        guard phone.isPaired else {
            throw tool.error(
                .notPaired,
                "list devices",
                "\(tool.udid) is not paired: confirm on it that it trusts this host"
            )
        }
        if let major = phone.majorVersion, major < 17 {
            throw tool.error(
                .systemTooOld,
                "list devices",
                "\(tool.udid) has iOS \(phone.os?.version ?? ""), devicectl needs 17 or newer"
            )
        }
        let details = try await tool.details()
        if (details.developerMode ?? phone.developerMode) == false {
            throw tool.error(
                .developerModeOff,
                "device info details",
                "turn developer mode on: Settings, Privacy & Security, Developer Mode"
            )
        }
        if try await tool.lockState().passcodeRequired == true {
            throw tool.error(.locked, "device info lockState", "unlock \(tool.udid), and let it not lock itself")
        }
        if try await tool.developerImage().isUsable == false {
            throw tool.error(.noDeveloperImage, "device info ddiServices", "the developer disk image is not usable")
        }
        return phone
    }

    /// What tells one boot of the phone from another. The tool names no boot, so the process of the home screen has to
    /// do: it is started with the phone, and a new one after anything else is reason enough to doubt.
    func bootID() async throws -> String {
        let processes = try await tool.processes()
        guard let home = processes.first(where: { $0.executable?.hasSuffix("/SpringBoard") ?? false }) else {
            throw tool.error(.notReady, "device info processes", "the home screen does not run: the phone is starting")
        }
        return "SpringBoard-\(home.processIdentifier)"
    }
}
