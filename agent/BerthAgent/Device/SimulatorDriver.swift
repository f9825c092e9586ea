import BerthArchive
import BerthCore
import BerthSystem
import Foundation

/// Drives simulators: each attempt gets a device of its own, cloned from a pristine one in the slot's private device set.
package struct SimulatorDriver: Sendable {
    /// What the slot's device is made of.
    package struct Wish: Sendable {
        /// Identifier of a device type; nil: the first that goes with the runtime.
        package var deviceType: String?
        /// Identifier of a runtime; nil: the newest one.
        package var runtime: String?
    }

    package let facts: DeviceFacts
    /// Tool name to version line.
    package let tools: [String: String]
    let simctl: SimulatorTool
    /// UDID of the device that was booted once and is shut down.
    package let pristine: String
    let preserved: PreservedDevices
    /// Most preserved devices; with as many the slot takes no new attempt.
    let preservedLimit: Int
    let release: ReleaseRequest
    /// Serialises boots on hosts whose device service cannot bear several at once; nil elsewhere.
    let bootLock: String?

    static let log = Log(component: "simulators")
    private static let pristineName = "berth-pristine"
    static let attemptPrefix = "berth-attempt-"

    /// The name of the device of an attempt.
    package static func name(forAttempt attempt: String) -> String { attemptPrefix + attempt }

    /// Asks the tool who it is, and makes the pristine device in the private device set if it is not there. What must be
    /// remembered is kept in the slot's state folder. `bootLock` is the lock file that serialises boots on a Mac.
    /// - Throws: `DeviceToolError`, `SystemError`, `AgentFailure`
    package static func prepare(
        tool: DeviceTool,
        state: String,
        set: String,
        limits: SimulatorTool.Limits,
        wish: Wish,
        preservedLimit: Int,
        bootLock: String
    ) async throws -> SimulatorDriver {
        let (platform, tools) = try await ask(tool, limit: limits.firstList)
        let boot: BootIdentity = platform == .iosSimulator ? .appleSimulator : .simulatedDevice
        let simctl = SimulatorTool(xcrun: tool, set: set, limits: limits, boot: boot)
        let list = try await simctl.list(limit: limits.firstList)
        let runtime = try choose(wish.runtime, from: list)
        guard let os = runtime.os else {
            throw AgentFailure(.toolUnavailable, "the runtime \(runtime.identifier) names no version and build")
        }
        let type = try choose(wish.deviceType, for: runtime, from: list)
        let identity = try identity(state)
        let pristine = try await pristine(state, simctl, list, runtime: runtime, type: type)
        return SimulatorDriver(
            facts: DeviceFacts(identity: identity, platform: platform, model: type.name ?? type.identifier, os: os),
            tools: tools,
            simctl: simctl,
            pristine: pristine,
            preserved: try PreservedDevices(folder: state + "/preserved"),
            preservedLimit: preservedLimit,
            release: ReleaseRequest(state: state),
            bootLock: platform == .iosSimulator ? bootLock : nil
        )
    }

    /// Who the tool says that it is: our own never counts as Apple's.
    private static func ask(_ tool: DeviceTool, limit: Duration) async throws -> (Platform, [String: String]) {
        let result = try await tool.call("--version", ["--version"], limit: limit)
        if let error = DeviceToolError.classify(verb: "--version", result, limit: limit) { throw error }
        let text = result.outputText
        let line = text.split(separator: "\n").first.map(String.init) ?? ""
        guard text.contains("berth-sim") else {
            let xcode = try? await tool.call("xcodebuild", ["xcodebuild", "-version"], limit: limit)
            let version = xcode?.outputText.split(separator: "\n").joined(separator: ", ") ?? "unknown"
            return (.iosSimulator, ["simctl": line, "xcode": version])
        }
        return (text.contains(Platform.standIn.rawValue) ? .standIn : .linuxSimulated, ["simctl": line])
    }

    private static func choose(_ wish: String?, from list: SimulatorList) throws -> SimulatorList.Runtime {
        let available = (list.runtimes ?? []).filter { $0.isAvailable?.value ?? true }
        if let wish {
            if let runtime = available.first(where: { $0.identifier == wish || $0.name == wish }) { return runtime }
        } else if let newest = available.max(by: {
            ($0.version ?? "").compare($1.version ?? "", options: .numeric) == .orderedAscending
        }) {
            return newest
        }
        let names = available.map(\.identifier).joined(separator: ", ")
        throw AgentFailure(
            .toolUnavailable,
            "\(wish.map { "the runtime \($0) is not installed" } ?? "no runtime is installed"); there are: "
                + (names.isEmpty ? "none" : names)
        )
    }

    private static func choose(
        _ wish: String?,
        for runtime: SimulatorList.Runtime,
        from list: SimulatorList
    ) throws -> SimulatorList.DeviceType {
        let types = runtime.supportedDeviceTypes ?? list.devicetypes ?? []
        if let wish {
            if let type = types.first(where: { $0.identifier == wish || $0.name == wish }) { return type }
        } else if let first = types.first(where: { $0.identifier.contains("iPhone") }) ?? types.first {
            return first
        }
        throw AgentFailure(
            .toolUnavailable,
            "\(wish.map { "the device type \($0)" } ?? "any device type") does not go with \(runtime.identifier); "
                + "there are: \(types.map(\.identifier).joined(separator: ", "))"
        )
    }

    /// What epochs belong to: made once.
    private static func identity(_ state: String) throws -> String {
        let path = state + "/identity"
        do {
            let text = String(decoding: try DurableFile.read(path, limit: 256), as: UTF8.self)
            let identity = text.trimmingCharacters(in: .whitespacesAndNewlines)
            guard SlotName.isValid(identity) else {
                throw AgentFailure(.damagedState, "\(path) holds no device identity; it is kept as it is")
            }
            return identity
        } catch let error as SystemError where error.code == ENOENT {
            let identity = "slot-" + Hex.encode(RandomBytes.make(8))
            try DurableFile.replace(path, with: Array("\(identity)\n".utf8))
            return identity
        }
    }

    /// What `pristine.json` keeps; it is written when the device has been booted and shut down.
    private struct Pristine: Codable, Equatable {
        let udid: String
        let deviceType: String
        let runtime: String
        let os: OSPin
    }

    private static func pristine(
        _ state: String,
        _ simctl: SimulatorTool,
        _ list: SimulatorList,
        runtime: SimulatorList.Runtime,
        type: SimulatorList.DeviceType
    ) async throws -> String {
        let path = state + "/pristine.json"
        guard let os = runtime.os else { throw AgentFailure(.toolUnavailable, "the runtime names no version") }
        let kept = try? CanonicalJSON.decode(
            Pristine.self,
            from: DurableFile.read(path, limit: 1 << 16),
            document: "pristine.json"
        )
        if let kept, kept.deviceType == type.identifier, kept.runtime == runtime.identifier, kept.os == os,
            let device = list.device(kept.udid)?.device
        {
            if !device.isShutdown { try await simctl.shutdown(kept.udid) }
            return kept.udid
        }
        unlink(path)
        for (_, device) in list.allDevices where device.name == pristineName {
            try await simctl.shutdown(device.udid)
            try await simctl.delete(device.udid)
        }
        let udid = try await simctl.create(name: pristineName, type: type.identifier, runtime: runtime.identifier)
        try await simctl.boot(udid, first: true)
        try await simctl.shutdown(udid)
        let made = Pristine(udid: udid, deviceType: type.identifier, runtime: runtime.identifier, os: os)
        try DurableFile.replace(path, with: try CanonicalJSON.encode(made))
        return udid
    }
}
