import BerthArchive
import BerthCore
import BerthSystem
import Foundation

/// The one device of a slot: its facts, the pristine device that attempts are cloned from, and what is kept of failures.
package struct SlotDevice: Sendable {
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
    package let driver: SimulatorDriver
    /// UDID of the device that was booted once and is shut down.
    package let pristine: String
    package let preserved: PreservedDevices

    private static let pristineName = "berth-pristine"
    private static let attemptPrefix = "berth-attempt-"

    /// The name of the device of an attempt.
    package static func name(forAttempt attempt: String) -> String { attemptPrefix + attempt }

    /// Asks the tool who it is, and makes the pristine device in the private device set if it is not there. What must be
    /// remembered is kept in the slot's state folder.
    /// - Throws: `DeviceToolError`, `SystemError`, `AgentFailure`
    package static func prepare(
        tool: DeviceTool,
        state: String,
        set: String,
        limits: SimulatorDriver.Limits,
        wish: Wish
    ) async throws -> SlotDevice {
        let (platform, tools) = try await ask(tool, limit: limits.firstList)
        let boot: BootIdentity = platform == .iosSimulator ? .appleSimulator : .simulatedDevice
        let driver = SimulatorDriver(tool: tool, set: set, limits: limits, boot: boot)
        let list = try await driver.list(limit: limits.firstList)
        let runtime = try choose(wish.runtime, from: list)
        guard let os = runtime.os else {
            throw AgentFailure(.toolUnavailable, "the runtime \(runtime.identifier) names no version and build")
        }
        let type = try choose(wish.deviceType, for: runtime, from: list)
        let identity = try identity(state)
        let pristine = try await pristine(state, driver, list, runtime: runtime, type: type)
        return SlotDevice(
            facts: DeviceFacts(identity: identity, platform: platform, model: type.name ?? type.identifier, os: os),
            tools: tools,
            driver: driver,
            pristine: pristine,
            preserved: try PreservedDevices(folder: state + "/preserved")
        )
    }

    /// Deletes devices of attempts that were neither ended nor preserved.
    /// - Parameter driver: calls the tool; nil: the slot's own.
    /// - Throws: `DeviceToolError`
    package func clean(with driver: SimulatorDriver? = nil) async throws {
        let driver = driver ?? self.driver
        preserved.prune(set: driver.set)
        let kept = Set(preserved.all().map(\.udid))
        for (_, device) in try await driver.list().allDevices
        where device.name.hasPrefix(Self.attemptPrefix) && !kept.contains(device.udid) {
            try await driver.shutdown(device.udid)
            try await driver.delete(device.udid)
        }
    }

    /// Who the tool says that it is: our own never counts as Apple's.
    private static func ask(_ tool: DeviceTool, limit: Duration) async throws -> (Platform, [String: String]) {
        let result = try await tool.call("--version", ["--version"], limit: limit)
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
        _ driver: SimulatorDriver,
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
            if !device.isShutdown { try await driver.shutdown(kept.udid) }
            return kept.udid
        }
        unlink(path)
        for (_, device) in list.allDevices where device.name == pristineName {
            try await driver.shutdown(device.udid)
            try await driver.delete(device.udid)
        }
        let udid = try await driver.create(name: pristineName, type: type.identifier, runtime: runtime.identifier)
        try await driver.boot(udid, first: true)
        try await driver.shutdown(udid)
        let made = Pristine(udid: udid, deviceType: type.identifier, runtime: runtime.identifier, os: os)
        try DurableFile.replace(path, with: try CanonicalJSON.encode(made))
        return udid
    }
}
