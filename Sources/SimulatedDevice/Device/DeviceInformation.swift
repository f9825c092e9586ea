/// What tools beyond simctl's verbs want to know of a device.
package struct DeviceInformation: Codable, Hashable, Sendable {
    /// The OS of a device.
    package struct RuntimeInformation: Codable, Hashable, Sendable {
        package let identifier: String
        package let version: String
        package let build: String
    }

    package let udid: String
    package let name: String
    /// As simctl names it.
    package let state: String
    /// New at every boot; absent when the device is not booted.
    package let bootID: String?
    package let lockState: BootInformation.LockState?
    /// Process ID of the supervisor; absent when the device is not booted.
    package let supervisor: Int32?
    /// Absent when the device's runtime is not installed.
    package let runtime: RuntimeInformation?

    /// Asks the device's record, its supervisor and its runtime.
    ///
    /// - Throws: `SimulatorError`
    package init(_ device: Device, runtimes: RuntimeFolder = RuntimeFolder()) throws {
        let record = try device.record()
        let boot = ControlClient(device).information()
        udid = record.udid
        name = record.name
        state = try boot == nil ? device.state().text : DeviceState.booted.text
        bootID = boot?.bootID
        lockState = boot?.lockState
        supervisor = boot?.supervisor
        runtime = try? runtimes.runtime(record.runtime).information
    }
}

extension Runtime {
    fileprivate var information: DeviceInformation.RuntimeInformation {
        .init(identifier: identifier, version: version, build: build)
    }
}
