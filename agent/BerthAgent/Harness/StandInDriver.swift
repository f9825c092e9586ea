import BerthCore
import BerthSystem
import Foundation
import Synchronization

/// Drives a device that does nothing but note who touches it, for the fault harness: an attempt takes some
/// milliseconds, and everything around it is what ships. Its platform is `stand-in`, so its results prove nothing.
package struct StandInDriver: DeviceDriver {
    /// The attempt at hand, as its steps need it.
    private struct Present {
        var holder: TouchLog.Holder
        var build: AssignedBuild
        var nonce: String
        var launchedAt: ContinuousClock.Instant?
    }

    private static let log = Log(component: "harness")

    package let facts: DeviceFacts
    package let tools: [String: String]
    package let deviceTool: DeviceTool
    package var pollInterval: Duration { setDwell == nil ? .milliseconds(5) : .seconds(1) }
    package let releasesBesideAttempts = true
    private let folder: String
    private let touches: TouchLog
    private let setDwell: Int?
    private let present: Shared

    private final class Shared: Sendable {
        let value = Mutex<Present?>(nil)
    }

    /// A device by its folder, whose name is its identity.
    /// - Parameters:
    ///   - tool: what touches it.
    ///   - folder: where its log lies.
    ///   - dwell: how long each app runs, in seconds; nil: mostly milliseconds.
    /// - Throws: `SystemError`
    package init(tool: DeviceTool, folder: String, dwell: Int? = nil) throws {
        self.init(
            facts: DeviceFacts(
                identity: "stand-in-" + (folder as NSString).lastPathComponent,
                platform: .standIn,
                model: "fault harness",
                os: OSPin(version: "1.0", build: "1A1")
            ),
            tool: tool,
            folder: folder,
            touches: try TouchLog(path: folder + "/touches"),
            dwell: dwell
        )
    }

    private init(
        facts: DeviceFacts,
        tool: DeviceTool,
        folder: String,
        touches: TouchLog,
        dwell: Int?,
        present: Shared = Shared()
    ) {
        self.facts = facts
        tools = ["device": "fault harness"]
        deviceTool = tool
        self.folder = folder
        self.touches = touches
        setDwell = dwell
        self.present = present
    }

    package func recording(_ recorder: CallRecorder, pulse: ExecutorPulse) -> any DeviceDriver {
        StandInDriver(
            facts: facts,
            tool: deviceTool.recording(recorder, pulse: pulse),
            folder: folder,
            touches: touches,
            dwell: setDwell,
            present: present
        )
    }

    // MARK: The slot

    package func refusal() -> OutcomeCause? { nil }
    package func isCleaningDue() -> Bool { false }
    package func clean() async throws {}
    package func kept() -> [KeptDevice] { [] }
    package func release(_ order: DeviceRelease) async throws -> OutcomeCause? { nil }
    package func recoverFromManualWork() async throws {}

    // MARK: The steps of an attempt

    package func prepare(for assignment: Assignment) async throws -> PreparedDevice {
        guard let build = assignment.build(.new) else {
            throw DeviceToolError(.usage, verb: "prepare", details: "the path has no new build")
        }
        let holder = TouchLog.Holder(run: assignment.run, attempt: assignment.attempt, epoch: assignment.epoch)
        present.value.withLock { $0 = Present(holder: holder, build: build, nonce: assignment.nonce) }
        try await use("prepare")
        return PreparedDevice(udid: facts.identity, bootID: "boot", os: facts.os)
    }

    package func install(_ build: AssignedBuild, bundle path: String, on device: PreparedDevice) async throws {
        present.value.withLock { $0?.build = build }
        try await use("install")
    }

    package func launch(_ launch: AppLaunch, on device: PreparedDevice) async throws -> LaunchedApp {
        try await use("launch")
        present.value.withLock { $0?.launchedAt = .now }
        return LaunchedApp(
            bundle: launch.bundle,
            pid: getpid(),
            process: nil,
            container: nil,
            earlierStatusFiles: []
        )
    }

    package func isRunning(_ app: LaunchedApp, on device: PreparedDevice) async throws -> Bool {
        try note("look")
        return true
    }

    package func end(_ app: LaunchedApp, on device: PreparedDevice) async throws {
        try note("end")
    }

    package func statusFiles(of app: LaunchedApp, reading name: String?, on device: PreparedDevice) async throws
        -> StatusLook
    {
        guard let name, let present = present.value.withLock({ $0 }), let launched = present.launchedAt,
            ContinuousClock.now >= launched + dwell(present.holder),
            let bytes = try StandInStatus(name, nonce: present.nonce, build: present.build)?.bytes
        else { return StatusLook(finding: .nothing, names: []) }
        return StatusLook(finding: .file(bytes), names: [name])
    }

    package func continuity(of bundle: String?, on device: PreparedDevice) async throws -> ContinuityFacts {
        ContinuityFacts(bootID: device.bootID, dataContainer: "data", os: facts.os)
    }

    package func logs(since start: Timestamp, of bundle: String, on device: PreparedDevice) async throws
        -> [String: [UInt8]]
    { [:] }

    package func settle(_ assignment: Assignment, device: PreparedDevice?, ending: DeviceEnding) async throws -> String?
    {
        if device != nil { try await use("settle") }
        return nil
    }

    /// The device's log hears that the attempt's result is on disk: from now on nothing excuses that it is forgotten.
    package func evidenceIsSafe(of attempt: String) {
        guard let holder = present.value.withLock({ $0?.holder }), holder.attempt == attempt else { return }
        do {
            try touches.touch("kept", holder, decided: TouchLog.now)
        } catch {
            Self.log.error("cannot note that a result is kept", ["attempt": attempt, "error": "\(error)"])
        }
    }

    // MARK: Touching

    private func note(_ verb: String) throws {
        guard let holder = present.value.withLock({ $0?.holder }) else { return }
        let decided = TouchLog.now
        try deviceTool.checkPermit()
        try touches.touch(verb, holder, decided: decided)
    }

    /// Touches the device through a process, as a device tool does.
    private func use(_ verb: String) async throws {
        guard let holder = present.value.withLock({ $0?.holder }) else { return }
        let decided = TouchLog.now
        let result = try await deviceTool.call(
            verb,
            [
                folder, verb, holder.run, holder.attempt, "\(holder.epoch)", "\(decided)", "\(hold(verb, holder))",
            ],
            limit: .seconds(30)
        )
        guard result.termination == .exited(0) else {
            throw DeviceToolError(.notStarted, verb: verb, details: "\(result.termination): \(result.errorText)")
        }
    }

    /// How long a tool call lasts, in milliseconds: mostly next to nothing, now and then long enough to be alive when its
    /// agent is not.
    private func hold(_ verb: String, _ holder: TouchLog.Holder) -> Int {
        let number = Self.number("\(holder.attempt) \(verb)")
        return number % 40 == 0 ? 200 + number / 40 % 800 : number / 40 % 5
    }

    /// How long an app runs before it says what it found: mostly some milliseconds, now and then seconds.
    private func dwell(_ holder: TouchLog.Holder) -> Duration {
        if let setDwell { return .seconds(setDwell) }
        let number = Self.number(holder.attempt)
        return .milliseconds(number % 20 == 0 ? 1000 + number / 20 % 5000 : number / 20 % 40)
    }

    private static func number(_ text: String) -> Int {
        SHA256.digest(of: Array(text.utf8)).prefix(4).reduce(0) { $0 << 8 | Int($1) }
    }
}
