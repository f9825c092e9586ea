import BerthCore
import BerthSystem
import Foundation
import Synchronization

/// Calls `xcrun`: every call has its own time limit, a clean environment, the device lock, and a place in the journal
/// for as long as it runs.
package struct DeviceTool: Sendable {
    /// One finished call, for the evidence.
    package struct Call: Sendable {
        package let verb: String
        package let arguments: [String]
        /// Nil when the tool could not be started.
        package let result: CommandResult?
        /// Why it could not be started.
        package let problem: String?
        /// The file that the tool wrote its result into, as it was read; nil when there was none.
        package var report: [UInt8]?
    }

    /// Longest file with a result that is read, in bytes.
    static let reportLimit = 16 << 20

    private let xcrun: String
    private let environment: [String: String]
    private let lock: FileLock?
    private let journal: Journal?
    private let recorder: CallRecorder?
    private let pulse: ExecutorPulse?

    /// A tool by its absolute path. Every call holds the lock too, and the journal remembers a call's process group while
    /// it runs.
    package init(
        xcrun: String,
        lock: FileLock? = nil,
        journal: Journal? = nil,
        recorder: CallRecorder? = nil,
        pulse: ExecutorPulse? = nil
    ) {
        self.xcrun = xcrun
        self.lock = lock
        self.journal = journal
        self.recorder = recorder
        self.pulse = pulse
        environment = Self.inherited
    }

    /// What the tool inherits, as it was when the agent started.
    private static let inherited = cleanEnvironment(ProcessInfo.processInfo.environment)

    /// The same tool, noting its calls for an attempt.
    package func recording(_ recorder: CallRecorder, pulse: ExecutorPulse) -> DeviceTool {
        DeviceTool(xcrun: xcrun, lock: lock, journal: journal, recorder: recorder, pulse: pulse)
    }

    /// Tells the pulse, if there is one, that something begins which ends within a time.
    package func expect(_ doing: String, within limit: Duration) {
        pulse?.expect(doing, within: limit)
    }

    /// Asks whether the attempt may still touch its device, where the tool works for one.
    /// - Throws: `CancellationError`
    package func checkPermit() throws { try recorder?.checkPermit() }

    /// Calls `xcrun` with all its arguments and gives the result, whatever it is. `verb` names the call in errors and
    /// evidence; `additions` go on top of the clean environment; `report` is a file that the tool writes, kept with the
    /// call; after `limit` the process group is killed.
    /// - Throws: `DeviceToolError` when the tool cannot be started, `CancellationError`
    package func call(
        _ verb: String,
        _ arguments: [String],
        environment additions: [String: String] = [:],
        report: String? = nil,
        limit: Duration
    ) async throws -> CommandResult {
        try await run(xcrun, arguments, name: nil, verb: verb, additions: additions, report: report, limit: limit)
    }

    /// Calls the program behind `xcrun` by another of its names, where one program answers to several, and gives the
    /// result of a call that exited with 0.
    /// - Throws: `DeviceToolError`, `CancellationError`
    package func callBehind(_ name: String, _ arguments: [String], limit: Duration) async throws -> CommandResult {
        let program = realpath(xcrun, nil).map { pointer in
            defer { free(pointer) }
            return String(cString: pointer)
        }
        let verb = arguments.first ?? name
        let result = try await run(program ?? xcrun, arguments, name: name, verb: verb, limit: limit)
        if let error = DeviceToolError.classify(verb: verb, result, limit: limit) { throw error }
        return result
    }

    private func run(
        _ program: String,
        _ arguments: [String],
        name: String?,
        verb: String,
        additions: [String: String] = [:],
        report: String? = nil,
        limit: Duration
    ) async throws -> CommandResult {
        try checkPermit()
        pulse?.expect("the device tool's \(verb)", within: limit)
        let specification = ProcessSpecification(
            executable: program,
            arguments: arguments,
            argumentZero: name,
            environment: environment.merging(additions) { _, addition in addition },
            inheritedDescriptors: lock.map { [$0.descriptor] } ?? []
        )
        let process = Mutex<Int32?>(nil)
        let result: CommandResult
        do {
            result = try await CommandRunner.run(
                specification,
                timeout: limit,
                outputLimit: 1 << 20,
                started: { child in
                    guard let journal, let identity = ProcessIdentity(running: child.pid) else { return }
                    try journal.append(.process(identity))
                    process.withLock { $0 = child.pid }
                }
            )
        } catch let error as SystemError {
            recorder?.note(Call(verb: verb, arguments: arguments, result: nil, problem: "\(error)"))
            throw DeviceToolError(.notStarted, verb: verb, details: "\(error); check --xcrun")
        } catch {
            if let pid = process.withLock({ $0 }) { journal?.remember(.processEnded(pid), withNext: true) }
            throw error
        }
        if let pid = process.withLock({ $0 }) { journal?.remember(.processEnded(pid), withNext: true) }
        if let recorder {
            let bytes = report.flatMap { try? DurableFile.read($0, limit: Self.reportLimit) }
            recorder.note(Call(verb: verb, arguments: arguments, result: result, problem: nil, report: bytes))
        }
        pulse?.expect("after the device tool's \(verb)", within: ExecutorPulse.ownWork)
        return result
    }

    /// What the tool may inherit: nothing that reaches the device or the app under test.
    static func cleanEnvironment(_ inherited: [String: String]) -> [String: String] {
        let allowed = ["PATH", "HOME", "TMPDIR", "USER", "LOGNAME", "LANG", "DEVELOPER_DIR", "LD_LIBRARY_PATH"]
        var clean = inherited.filter { allowed.contains($0.key) || $0.key.hasPrefix("BERTH_SIM_") }
        if clean["PATH"] == nil { clean["PATH"] = "/usr/bin:/bin:/usr/sbin:/sbin" }
        return clean
    }
}

/// Collects the tool calls of an attempt, and is asked before each whether it may be made.
package final class CallRecorder: Sendable {
    private let calls = Mutex<[DeviceTool.Call]>([])
    private let permit: Mutex<(@Sendable () throws -> Void)?>

    /// - Parameter permit: throws `CancellationError` when the attempt is over.
    package init(permit: (@Sendable () throws -> Void)? = nil) {
        self.permit = Mutex(permit)
    }

    /// - Throws: `CancellationError` when the attempt is over and its device may only be put away.
    package func checkPermit() throws {
        try permit.withLock { $0 }?()
    }

    /// From here on the device is put away, which has to be done however the attempt ended.
    package func beginPuttingAway() {
        permit.withLock { $0 = nil }
    }

    package func note(_ call: DeviceTool.Call) {
        calls.withLock { $0.append(call) }
    }

    package var all: [DeviceTool.Call] { calls.withLock { $0 } }
}
