import BerthSystem
import Foundation

/// A folder of devices.
package struct DeviceSet: Sendable {
    package let path: String

    /// Opens a set that exists.
    ///
    /// - Parameter path: its folder; nil stands for the user's own, which is made if it is not there.
    /// - Throws: `SimulatorError`
    package init(path: String?) throws {
        if let path {
            var isFolder: ObjCBool = false
            guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue else {
                throw SimulatorError.missingSet(path)
            }
            self.path = URL(fileURLWithPath: path).path
        } else {
            let home = ProcessInfo.processInfo.environment["HOME"] ?? NSHomeDirectory()
            self.path = "\(home)/Library/Developer/CoreSimulator/Devices"
            try DurableFile.makeFolder(self.path)
        }
    }

    /// All devices, in the order of their names.
    package func devices() throws -> [(device: Device, record: DeviceRecord)] {
        let names = try FileManager.default.contentsOfDirectory(atPath: path)
        let found = names.filter { UUID(uuidString: $0) != nil }.compactMap { name -> (Device, DeviceRecord)? in
            let device = Device(udid: name, folder: DeviceFolder(path: "\(path)/\(name)"))
            // A device that is being made or deleted has no readable record, and is none.
            guard let record = try? device.record() else { return nil }
            return (device, record)
        }
        return found.sorted { ($0.1.name, $0.1.udid) < ($1.1.name, $1.1.udid) }
    }

    /// The device of this UDID or name, or the one that `booted` stands for.
    ///
    /// - Throws: `SimulatorError`
    package func device(_ name: String) throws -> Device {
        if name == "booted" {
            for (device, _) in try devices() where try device.state() == .booted { return device }
            throw SimulatorError.noneBooted
        }
        if UUID(uuidString: name) != nil {
            let device = device(udid: name.uppercased())
            guard FileManager.default.fileExists(atPath: device.folder.record) else {
                throw SimulatorError.invalidDevice(name)
            }
            return device
        }
        let named = try devices().filter { $0.record.name == name }
        guard let first = named.first else { throw SimulatorError.invalidDevice(name) }
        return first.device
    }

    private func device(udid: String) -> Device {
        Device(udid: udid, folder: DeviceFolder(path: "\(path)/\(udid)"))
    }

    // MARK: Changes

    /// Makes a device without apps and with an empty keychain.
    func create(name: String, type: DeviceType, runtime: Runtime) throws -> Device {
        try make(name: name, deviceType: type.identifier, runtime: runtime.identifier) { data in
            try DurableFile.makeFolder(data)
        }
    }

    /// Makes a copy of a device that is shut down, with its apps, their data and its keychain.
    func clone(_ source: Device, name: String) throws -> Device {
        try source.exclusively {
            let state = try source.settledState()
            guard state == .shutdown else { throw SimulatorError.wrongState("clone device", state) }
            let record = try source.record()
            return try make(name: name, deviceType: record.deviceType, runtime: record.runtime) { data in
                try FileTree.copy(source.folder.data, to: data)
            }
        }
    }

    /// A device appears whole, under its name, or not at all.
    private func make(
        name: String,
        deviceType: String,
        runtime: String,
        fill: (_ data: String) throws -> Void
    ) throws -> Device {
        let udid = UUID().uuidString
        let partial = DeviceFolder(path: "\(path)/.creating-\(udid)")
        do {
            try DurableFile.makeFolder(partial.path)
            try fill(partial.data)
            try DurableFile.makeFolder(partial.logs)
            let record = DeviceRecord(
                udid: udid,
                name: name,
                deviceType: deviceType,
                runtime: runtime,
                state: .shutdown
            )
            try record.write(to: partial.record)
            let device = device(udid: udid)
            try DurableFile.rename(partial.path, to: device.folder.path)
            return device
        } catch {
            FileTree.removeIfPresent(partial.path)
            throw error
        }
    }

    /// Empties a device that is shut down: no apps, no data, no keychain.
    func erase(_ device: Device) throws {
        try device.exclusively {
            let state = try device.settledState()
            guard state == .shutdown else {
                throw SimulatorError.wrongState("erase contents and settings", state)
            }
            let old = "\(device.folder.path)/.erased-\(UUID().uuidString)"
            try DurableFile.rename(device.folder.data, to: old)
            try DurableFile.makeFolder(device.folder.data)
            FileTree.removeIfPresent(old)
        }
    }

    /// Removes a device that is shut down.
    func delete(_ device: Device) throws {
        try device.exclusively {
            let state = try device.settledState()
            guard state == .shutdown else { throw SimulatorError.wrongState("delete device", state) }
            let old = "\(path)/.deleted-\(device.udid)-\(UUID().uuidString)"
            try DurableFile.rename(device.folder.path, to: old)
            FileTree.removeIfPresent(old)
        }
    }
}
