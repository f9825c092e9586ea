/// What an attempt really ran on; a pass on one never stands for another.
package enum Platform: String, Sendable, Hashable, Codable, CaseIterable {
    /// Apple's simulator on a Mac.
    case iosSimulator = "ios-simulator"
    /// The simulated device of a Linux host.
    case linuxSimulated = "linux-simulated"
    /// A physical iPhone or iPad.
    case iosDevice = "ios-device"
    /// A test double of a physical device's tool.
    case standIn = "stand-in"

    /// The ledger that results of this platform go to.
    package var kind: DeviceKind {
        switch self {
        case .iosSimulator, .linuxSimulated: .simulator
        case .iosDevice, .standIn: .hardware
        }
    }
}
