import BerthCore

/// A device of devicectl's lists. The three older dictionaries are going to be replaced by `properties`, so both are
/// read.
package struct DevicectlDevice: Decodable, Sendable {
    private struct Connection: Decodable {
        let pairingState: String?
    }

    private struct Hardware: Decodable {
        let udid: String?
        let platform: String?
        let productType: String?
        let marketingName: String?
        let reality: String?
    }

    private struct State: Decodable {
        let osVersionNumber: String?
        let osBuildUpdate: String?
        let developerModeStatus: String?
    }

    private struct Properties: Decodable {
        struct Software: Decodable {
            struct Version: Decodable {
                let stringValue: String?
            }

            let osVersionNumber: Version?
            let osBuildUpdate: String?
        }

        struct General: Decodable {
            let developerModeStatus: String?
        }

        let connection: Connection?
        let hardware: Hardware?
        let software: Software?
        let state: General?
    }

    private let connectionProperties: Connection?
    private let hardwareProperties: Hardware?
    private let deviceProperties: State?
    private let properties: Properties?
    private let visibilityClass: String?
    /// What the tool itself calls the device.
    package let identifier: String?

    package var udid: String? { hardwareProperties?.udid ?? properties?.hardware?.udid }
    package var isPaired: Bool {
        (connectionProperties?.pairingState ?? properties?.connection?.pairingState) == "paired"
    }
    /// Nil when the tool does not say.
    package var developerMode: Bool? {
        (deviceProperties?.developerModeStatus ?? properties?.state?.developerModeStatus).map { $0 != "disabled" }
    }
    package var isSimulator: Bool {
        visibilityClass == "simulators"
            || (hardwareProperties?.reality ?? properties?.hardware?.reality) == "simulated"
    }
    package var model: String? {
        hardwareProperties?.productType ?? properties?.hardware?.productType ?? hardwareProperties?.marketingName
    }
    /// The exact system; nil when the tool leaves version or build out.
    package var os: OSPin? {
        guard let version = deviceProperties?.osVersionNumber ?? properties?.software?.osVersionNumber?.stringValue,
            let build = deviceProperties?.osBuildUpdate ?? properties?.software?.osBuildUpdate
        else { return nil }
        return OSPin(version: version, build: build)
    }
    /// The first number of the system's version.
    package var majorVersion: Int? {
        os?.version.split(separator: ".").first.flatMap { Int($0) }
    }
}
