import BerthSystem
import Foundation

/// `list`: device types, runtimes, devices and pairs, as text or JSON.
struct ListVerb {
    let set: DeviceSet
    private let json: Bool
    private let sections: Set<String>
    private let term: String?

    private static let sections = ["devicetypes", "runtimes", "devices", "pairs"]

    init(set: DeviceSet, arguments: Arguments) throws {
        self.set = set
        var names = try arguments.positional(0...2, options: ["-j", "--json", "-v"])
        json = arguments.has("-j", "--json")
        if let first = names.first, Self.sections.contains(first) {
            sections = [first]
            names.removeFirst()
        } else {
            sections = Set(Self.sections)
        }
        guard names.count <= 1 else { throw arguments.usageError(nil) }
        term = names.first
    }

    func run() throws {
        let runtimes = try RuntimeFolder().runtimes()
        let devices = try listedDevices(Set(runtimes.map(\.identifier)))
        if json {
            try writeJSON(runtimes, devices)
        } else {
            writeText(runtimes, devices)
        }
    }

    private struct ListedDevice {
        let device: Device
        let record: DeviceRecord
        let state: DeviceState
        let isAvailable: Bool
    }

    private func listedDevices(_ runtimes: Set<String>) throws -> [ListedDevice] {
        guard sections.contains("devices") else { return [] }
        return try set.devices().compactMap { device, record in
            // A device that is deleted meanwhile is not listed.
            guard let state = try? device.state() else { return nil }
            let listed = ListedDevice(
                device: device,
                record: record,
                state: state,
                isAvailable: runtimes.contains(record.runtime)
            )
            return matches(listed) ? listed : nil
        }
    }

    private func matches(_ listed: ListedDevice) -> Bool {
        switch term {
        case nil: true
        case "booted": listed.state == .booted
        case "available": listed.isAvailable
        case let term?:
            listed.record.udid == term.uppercased() || listed.record.name.contains(term)
                || listed.record.runtime.contains(term)
        }
    }

    // MARK: Text

    private func writeText(_ runtimes: [Runtime], _ devices: [ListedDevice]) {
        var lines: [String] = []
        if sections.contains("devicetypes") {
            lines += ["== Device Types =="] + DeviceType.all.map { "\($0.name) (\($0.identifier))" }
        }
        if sections.contains("runtimes") {
            lines += ["== Runtimes =="]
            lines += runtimes.map { "\($0.name) (\($0.version) - \($0.build)) - \($0.identifier)" }
        }
        if sections.contains("devices") {
            lines.append("== Devices ==")
            for runtime in runtimes {
                lines.append("-- \(runtime.name) --")
                lines += devices.filter { $0.record.runtime == runtime.identifier }.map { text($0, suffix: "") }
            }
            let lost = devices.filter { !$0.isAvailable }
            for identifier in Set(lost.map(\.record.runtime)).sorted() {
                lines.append("-- Unavailable: \(identifier) --")
                let suffix = "(unavailable, \(Self.missingRuntime))"
                lines += lost.filter { $0.record.runtime == identifier }.map { text($0, suffix: suffix) }
            }
        }
        if sections.contains("pairs") { lines.append("== Device Pairs ==") }
        StandardStreams.writeOutput(lines.joined(separator: "\n") + "\n")
    }

    private func text(_ listed: ListedDevice, suffix: String) -> String {
        "    \(listed.record.name) (\(listed.record.udid)) (\(listed.state.text)) \(suffix)"
    }

    private static let missingRuntime = "runtime profile not found using “System” match policy"

    // MARK: JSON

    private func writeJSON(_ runtimes: [Runtime], _ devices: [ListedDevice]) throws {
        var list: [String: Any] = [:]
        if sections.contains("devicetypes") { list["devicetypes"] = DeviceType.all.map(json) }
        if sections.contains("runtimes") { list["runtimes"] = runtimes.map(json) }
        if sections.contains("devices") {
            var groups: [String: [Any]] = [:]
            for runtime in runtimes { groups[runtime.identifier] = [] }
            for listed in devices { groups[listed.record.runtime, default: []].append(json(listed)) }
            list["devices"] = groups
        }
        if sections.contains("pairs") { list["pairs"] = [String: String]() }
        let data = try JSONSerialization.data(withJSONObject: list, options: [.prettyPrinted, .sortedKeys])
        StandardStreams.writeOutput(String(decoding: data, as: UTF8.self) + "\n")
    }

    private func json(_ type: DeviceType) -> [String: Any] {
        [
            "identifier": type.identifier, "name": type.name, "productFamily": "iPhone", "modelIdentifier": "Linux1,1",
            "minRuntimeVersion": 0, "minRuntimeVersionString": "0.0.0",
            "maxRuntimeVersion": UInt32.max, "maxRuntimeVersionString": "65535.255.255",
        ]
    }

    private func json(_ runtime: Runtime) -> [String: Any] {
        [
            "identifier": runtime.identifier, "name": runtime.name, "version": runtime.version,
            "buildversion": runtime.build, "platform": "iOS", "bundlePath": runtime.path, "runtimeRoot": runtime.root,
            "isAvailable": true, "isInternal": false,
            "supportedDeviceTypes": DeviceType.all.map { type in
                ["identifier": type.identifier, "name": type.name, "productFamily": "iPhone"]
            },
        ]
    }

    private func json(_ listed: ListedDevice) -> [String: Any] {
        let folder = listed.device.folder
        var entry: [String: Any] = [
            "udid": listed.record.udid, "name": listed.record.name, "state": listed.state.text,
            "isAvailable": listed.isAvailable, "deviceTypeIdentifier": listed.record.deviceType,
            "dataPath": folder.data, "dataPathSize": FileTree.size(folder.data),
            "logPath": folder.logs, "logPathSize": FileTree.size(folder.logs),
        ]
        if !listed.isAvailable { entry["availabilityError"] = Self.missingRuntime }
        if let date = listed.record.lastBootedAt {
            entry["lastBootedAt"] = date.formatted(.iso8601)
        }
        return entry
    }
}
