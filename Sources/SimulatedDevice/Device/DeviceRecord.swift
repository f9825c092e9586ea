import BerthSystem
import Foundation

/// The states of a device, with the numbers that stand in `device.plist`.
package enum DeviceState: Int, Codable, Sendable {
    case creating = 0
    case shutdown = 1
    case booting = 2
    case booted = 3
    case shuttingDown = 4

    /// The name that simctl prints.
    package var text: String {
        switch self {
        case .creating: "Creating"
        case .shutdown: "Shutdown"
        case .booting: "Booting"
        case .booted: "Booted"
        case .shuttingDown: "Shutting Down"
        }
    }
}

/// What `device.plist` says about a device.
package struct DeviceRecord: Codable, Hashable, Sendable {
    package let udid: String
    package var name: String
    /// Identifier of the device type.
    package var deviceType: String
    /// Identifier of the runtime.
    package var runtime: String
    /// As it was last written: a supervisor that was killed leaves it behind. `Device.state()` looks closer.
    package var state: DeviceState
    package var lastBootedAt: Date?

    private enum CodingKeys: String, CodingKey {
        case udid = "UDID"
        case name
        case deviceType
        case runtime
        case state
        case lastBootedAt
    }

    private static let longest = 1 << 20

    /// Reads a record.
    ///
    /// - Throws: `SystemError`, `DecodingError`
    package init(path: String) throws {
        let bytes = try DurableFile.read(path, limit: Self.longest)
        self = try PropertyListDecoder().decode(DeviceRecord.self, from: Data(bytes))
    }

    init(udid: String, name: String, deviceType: String, runtime: String, state: DeviceState) {
        self.udid = udid
        self.name = name
        self.deviceType = deviceType
        self.runtime = runtime
        self.state = state
    }

    /// Writes the record so that it survives a crash.
    ///
    /// - Throws: `SystemError`
    func write(to path: String) throws {
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .xml
        try DurableFile.replace(path, with: Array(encoder.encode(self)))
    }
}
