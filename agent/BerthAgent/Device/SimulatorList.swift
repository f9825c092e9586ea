import BerthCore
import Foundation

/// What `simctl list -j` says. Everything but a device's UDID, name and state differs between versions of the tool and
/// is optional.
package struct SimulatorList: Sendable, Decodable {
    package struct Runtime: Sendable, Decodable {
        package let identifier: String
        package let version: String?
        package let buildversion: String?
        package let name: String?
        package let isAvailable: Truth?
        package let supportedDeviceTypes: [DeviceType]?

        /// The exact system, if both parts are given.
        package var os: OSPin? {
            guard let version, let buildversion else { return nil }
            return OSPin(version: version, build: buildversion)
        }
    }

    package struct DeviceType: Sendable, Decodable {
        package let identifier: String
        package let name: String?
    }

    package struct Device: Sendable, Decodable {
        package let udid: String
        package let name: String
        package let state: String
        package let deviceTypeIdentifier: String?
        package let lastBootedAt: String?
        package let lastUsedAt: String?
        package let dataPath: String?

        /// An open set of words; these two decide.
        package var isBooted: Bool { state == "Booted" }
        package var isShutdown: Bool { state == "Shutdown" }
    }

    /// A truth value that older tools write as text.
    package struct Truth: Sendable, Decodable {
        package let value: Bool

        package init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let value = try? container.decode(Bool.self) {
                self.value = value
            } else {
                let text = try container.decode(String.self).lowercased()
                value = text == "yes" || text == "true"
            }
        }
    }

    package let runtimes: [Runtime]?
    package let devicetypes: [DeviceType]?
    /// Keyed by the runtime's identifier.
    package let devices: [String: [Device]]?

    /// All devices with the identifiers of their runtimes.
    package var allDevices: [(runtime: String, device: Device)] {
        (devices ?? [:]).flatMap { runtime, devices in devices.map { (runtime, $0) } }
    }

    package func device(_ udid: String) -> (runtime: String, device: Device)? {
        allDevices.first { $0.device.udid == udid }
    }

    /// Reads the tool's output.
    /// - Throws: `DeviceToolError` of kind `unreadable`
    package static func parse(_ output: [UInt8]) throws(DeviceToolError) -> SimulatorList {
        do {
            return try CanonicalJSON.decode(SimulatorList.self, from: output, document: "the list of devices")
        } catch {
            throw DeviceToolError(.unreadable, verb: "list", details: "\(error)")
        }
    }
}
