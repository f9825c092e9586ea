import BerthAgent
import BerthCore
import BerthSystem
import Synchronization

/// When attempts began, by their runs.
final class Starts: Sendable {
    private let times = Mutex<[String: ContinuousClock.Instant]>([:])

    func note(_ run: String) {
        let now = ContinuousClock.now
        times.withLock { times in if times[run] == nil { times[run] = now } }
    }

    var all: [String: ContinuousClock.Instant] { times.withLock { $0 } }
}

/// A device that only notes that an attempt began, and then refuses the new build: the attempt fails by the product's
/// fault after one step, so that everything but the device is as in a real farm.
struct LightDriver: DeviceDriver {
    let facts: DeviceFacts
    let deviceTool: DeviceTool
    let starts: Starts
    let tools: [String: String] = ["simctl": "bench"]
    let pollInterval: Duration = .milliseconds(100)
    let releasesBesideAttempts = true

    func recording(_ recorder: CallRecorder, pulse: ExecutorPulse) -> any DeviceDriver {
        LightDriver(facts: facts, deviceTool: deviceTool.recording(recorder, pulse: pulse), starts: starts)
    }

    func refusal() -> OutcomeCause? { nil }
    func isCleaningDue() -> Bool { false }
    func clean() async throws {}
    func kept() -> [KeptDevice] { [] }
    func release(_ order: DeviceRelease) async throws -> OutcomeCause? { nil }
    func recoverFromManualWork() async throws {}

    func prepare(for assignment: Assignment) async throws -> PreparedDevice {
        starts.note(assignment.run)
        return PreparedDevice(udid: facts.identity, bootID: "boot", os: facts.os)
    }

    func install(_ build: AssignedBuild, bundle path: String, on device: PreparedDevice) async throws {
        throw DeviceToolError(.buildRefused, verb: "install", details: "this device installs nothing")
    }

    func continuity(of bundle: String?, on device: PreparedDevice) async throws -> ContinuityFacts {
        ContinuityFacts(bootID: device.bootID, dataContainer: "none", os: device.os)
    }

    func settle(_ assignment: Assignment, device: PreparedDevice?, ending: DeviceEnding) async throws -> String? { nil }

    // Nothing is ever installed, so nothing is launched.
    func launch(_ launch: AppLaunch, on device: PreparedDevice) async throws -> LaunchedApp { throw unused("launch") }
    func isRunning(_ app: LaunchedApp, on device: PreparedDevice) async throws -> Bool { false }
    func end(_ app: LaunchedApp, on device: PreparedDevice) async throws {}
    func statusFiles(of app: LaunchedApp, reading name: String?, on device: PreparedDevice) async throws -> StatusLook {
        throw unused("status")
    }
    func logs(since start: Timestamp, of bundle: String, on device: PreparedDevice) async throws -> [String: [UInt8]] {
        [:]
    }

    private func unused(_ verb: String) -> DeviceToolError {
        DeviceToolError(.usage, verb: verb, details: "this device launches nothing")
    }
}
