import BerthCore
import Foundation

/// How the boot of a device is told from any other: the one question that Apple's tool and the simulated device of a
/// Linux host answer in different ways.
package enum BootIdentity: Sendable {
    /// What continuity needs to know of a booted device.
    package struct Facts: Sendable, Hashable {
        /// New with every boot.
        package let bootID: String
        package let os: OSPin
    }

    /// `berth-sim device-info` says it.
    case simulatedDevice
    /// The list of devices says when it was booted last.
    case appleSimulator

    func facts(of udid: String, tool: SimulatorTool) async throws -> Facts {
        switch self {
        case .simulatedDevice: try await Self.askSimulatedDevice(udid, tool)
        case .appleSimulator: try await Self.askAppleSimulator(udid, tool)
        }
    }
}
