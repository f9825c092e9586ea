import BerthCore
import BerthSystem

/// Speaks to one kind of device for an attempt's steps: everything that differs between simulators, phones on a Mac and
/// whatever comes later. A slot has one driver; an attempt gets it with its own recorder of calls.
///
/// Success of a tool's verb is no proof for a driver: it reads back what matters. Failures of the tool are
/// `DeviceToolError`; cancellation of the task ends a running call.
package protocol DeviceDriver: Sendable {
    /// What the slot says about its device.
    var facts: DeviceFacts { get }
    /// Tool name to version line.
    var tools: [String: String] { get }
    /// The tool that the driver calls.
    var deviceTool: DeviceTool { get }
    /// What the device offers to cases beyond the basics (`SlotFeature`).
    var features: [String] { get }
    /// How long to wait between two looks at a launched app.
    var pollInterval: Duration { get }

    /// The same driver, noting its calls for an attempt and telling of them beforehand.
    func recording(_ recorder: CallRecorder, pulse: ExecutorPulse) -> any DeviceDriver

    // MARK: The slot

    /// Why the slot takes no attempt at present, with what helps, or nil. Blocks for as long as small files take.
    func refusal() -> OutcomeCause?
    /// Whether `clean` has something to do that shall not wait for the next attempt. Blocks likewise.
    func isCleaningDue() -> Bool
    /// Removes what ended attempts left, and is called at the agent's start, when it is due, and before each attempt.
    /// What is kept for a person stays.
    /// - Throws: `DeviceToolError`, `SystemError`
    func clean() async throws

    /// What is kept for a person, the one kept longest first. Blocks for as long as small files take.
    func kept() -> [KeptDevice]
    /// Whether a kept device can be released while an attempt runs on the slot.
    var releasesBesideAttempts: Bool { get }
    /// Lets go of one kept device, as an operator orders.
    /// - Returns: why it is still kept, or nil when it is not.
    /// - Throws: `DeviceToolError`, `SystemError`, `CancellationError`
    func release(_ order: DeviceRelease) async throws -> OutcomeCause?
    /// Brings the slot's devices to rest after a person has worked on them by hand.
    /// - Throws: `AgentFailure` when the slot cannot go on with what it finds, `DeviceToolError`
    func recoverFromManualWork() async throws

    // MARK: The steps of an attempt

    /// Makes the device ready: clean, booted, reachable.
    func prepare(for assignment: Assignment) async throws -> PreparedDevice
    /// Installs a bundle, over an older build if there is one, and makes sure that it is there.
    func install(_ build: AssignedBuild, bundle path: String, on device: PreparedDevice) async throws
    /// Starts an app; it may already have ended when this returns.
    func launch(_ launch: AppLaunch, on device: PreparedDevice) async throws -> LaunchedApp
    /// Whether a launched app still runs.
    func isRunning(_ app: LaunchedApp, on device: PreparedDevice) async throws -> Bool
    /// Ends a launched app, and returns when it is gone. One that has ended is fine.
    func end(_ app: LaunchedApp, on device: PreparedDevice) async throws
    /// Looks at the status files in a launched app's data container, and reads one of them, bounded.
    func statusFiles(of app: LaunchedApp, reading name: String?, on device: PreparedDevice) async throws -> StatusLook
    /// Boot, system and, with a bundle ID, the identities of that app's containers and what the probe keeps in them, as
    /// they are now, also before the app's first launch.
    func continuity(of bundle: String?, on device: PreparedDevice) async throws -> ContinuityFacts
    /// Boots the device anew.
    func reboot(_ device: PreparedDevice) async throws
    /// Lets keychain calls of apps fail; asked for only with the feature `keychain-faults`.
    func inject(_ fault: KeychainFault, on device: PreparedDevice) async throws
    /// Ends all injected faults.
    /// - Returns: how many failures no call has met.
    func clearFaults(on device: PreparedDevice) async throws -> Int
    /// What else the device can tell about the attempt's apps: path within the evidence to content.
    func logs(since start: Timestamp, of bundle: String, on device: PreparedDevice) async throws -> [String: [UInt8]]

    /// Puts the device away after an attempt. `device` is nil when `prepare` did not come to its end.
    /// - Returns: the UDID of a device that is kept for a person, else nil.
    func settle(_ assignment: Assignment, device: PreparedDevice?, ending: DeviceEnding) async throws -> String?
    /// The evidence of an attempt whose device is kept without it is on disk by now, or with the coordinator. Blocks for
    /// as long as small files take.
    func evidenceIsSafe(of attempt: String)
}

extension DeviceDriver {
    package var features: [String] { [] }

    package func evidenceIsSafe(of attempt: String) {}

    package func reboot(_ device: PreparedDevice) async throws {
        throw DeviceToolError(.usage, verb: "reboot", details: "this kind of device cannot be rebooted by a case")
    }

    package func inject(_ fault: KeychainFault, on device: PreparedDevice) async throws {
        throw DeviceToolError(.usage, verb: "fault", details: "this kind of device takes no keychain faults")
    }

    package func clearFaults(on device: PreparedDevice) async throws -> Int { 0 }
}

/// A device that is ready for an attempt.
package struct PreparedDevice: Sendable, Hashable {
    package let udid: String
    /// New with every boot.
    package let bootID: String
    package let os: OSPin

    package init(udid: String, bootID: String, os: OSPin) {
        self.udid = udid
        self.bootID = bootID
        self.os = os
    }
}

/// How an app is to be started.
package struct AppLaunch: Sendable {
    /// The app's bundle ID.
    package let bundle: String
    package let arguments: [String]
    /// Variables that the app gets besides the device's own.
    package let environment: [String: String]
    /// Files of the host for the app's output, where the device gives it.
    package let standardOutput: String
    package let standardError: String

    package init(
        bundle: String,
        arguments: [String],
        environment: [String: String] = [:],
        standardOutput: String,
        standardError: String
    ) {
        self.bundle = bundle
        self.arguments = arguments
        self.environment = environment
        self.standardOutput = standardOutput
        self.standardError = standardError
    }
}

/// A started app, as its driver knows it.
package struct LaunchedApp: Sendable {
    package let bundle: String
    /// Process ID on the device.
    package let pid: Int32
    /// The process of this host, where the device's apps are such.
    package let process: ProcessIdentity?
    /// The data container's path on this host, where it is reachable so.
    package let container: String?
    /// The status files that were there before the launch.
    package let earlierStatusFiles: Set<String>
}

/// What lies in the status folder of a data container.
package struct StatusLook: Sendable {
    /// What lies under the asked name; `nothing` when none was asked for.
    package let finding: StatusFinding
    /// All names that are made like those of status files.
    package let names: Set<String>
}

/// What lies under a name of the status folder.
package enum StatusFinding: Sendable {
    case nothing
    case file([UInt8])
    /// Longer than `StatusFile.sizeLimit`, in bytes.
    case oversized(Int64)
    /// Not a file that may be read, in words.
    case unusable(String)
}

/// In what state an attempt leaves its device.
package enum DeviceEnding: Sendable, Hashable {
    /// The attempt passed, its exact cleanup was proved.
    case clean
    /// It was broken off, or nothing is to be learned from the device.
    case abandoned
    /// It went wrong, and a person may want to look at the device; with the cause's code, and why the attempt's evidence
    /// is not on disk, if it is not.
    case worthKeeping(Outcome, cause: String?, evidence: OutcomeCause?)
    /// Its agent died, and may have decided to keep the device on a disk that did not take it.
    case agentDied
}

extension OutcomeCause {
    /// The mark of a device whose attempt's evidence was never written.
    package static let evidenceLost = OutcomeCause(
        "evidence-lost",
        "the evidence was in the memory of an agent that died; only the coordinator can have it"
    )
}
