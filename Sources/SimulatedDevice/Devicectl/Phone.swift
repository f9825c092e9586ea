import BerthSystem
import Foundation

/// A stand-in for a physical phone: a simulated device that is always on and is reached by the verbs of `devicectl`.
package struct Phone: Sendable {
    /// What `phone.plist` says.
    package struct Record: Codable, Hashable, Sendable {
        /// The hardware UDID, by which a phone is named.
        package let udid: String
        /// What CoreDevice calls it.
        package let identifier: String
        package let name: String
        /// UDID of the simulated device underneath.
        package let device: String
        /// UUID of the list of installed apps.
        package let database: String
    }

    package let record: Record
    /// The phone's folder.
    package let path: String

    /// The set with the device underneath, which `simctl --set` can open.
    package var set: String { "\(path)/set" }
    /// Switches for tests; see `PhoneBehaviour`.
    package var behaviourFile: String { "\(path)/behaviour.json" }

    /// The device underneath; a phone is on, so one that is not booted is booted first.
    ///
    /// - Throws: `SimulatorError`
    func device() throws -> Device {
        let set = try DeviceSet(path: set)
        let device = try set.device(record.device)
        guard try device.state() != .booted else { return device }
        do {
            try SupervisorProcess(set: set, device: device).boot()
        } catch let error as SimulatorError where error == .wrongState("boot device", .booted) {
            // Another call was faster.
        }
        return device
    }

    /// The OS of the phone.
    ///
    /// - Throws: `SimulatorError`
    func runtime() throws -> Runtime {
        let device = try DeviceSet(path: set).device(record.device)
        return try RuntimeFolder().runtime(device.record().runtime)
    }
}
