/// What simctl asks of a device's supervisor.
enum ControlRequest: Codable, Sendable {
    case information
    case launch(LaunchRequest)
    case terminate(bundle: String)
    /// Puts a bundle that was copied into a container aside into the place of the app's present one.
    case install(container: String, bundleName: String, bundle: String)
    case uninstall(bundle: String)
    /// Sends a signal to a launched app, if it still runs.
    case signal(process: Int32, number: Int32)
    /// Answers when this launched app has ended.
    case waitForEnd(process: Int32)
    /// Lets keychain calls of apps fail.
    case fault(KeychainFault)
    /// Ends all such faults.
    case clearFaults
    /// Ends the device. There is no answer but the end of the stream.
    case shutdown
}

/// How an app is to be started.
struct LaunchRequest: Codable, Sendable {
    let bundle: String
    let arguments: [String]
    /// Additions to the environment that the device gives.
    let environment: [String: String]
    /// Absolute path; nil: nowhere.
    let standardOutput: String?
    let standardError: String?
    /// End a running instance first; else it is what the launch answers with.
    let terminateRunning: Bool
}

/// What the supervisor answers.
enum ControlAnswer: Codable, Sendable {
    case done
    case information(BootInformation)
    case launched(process: Int32)
    /// How many failures no call has met.
    case cleared(left: Int)
    case refused(SimulatorError)
}

/// What a booted device says about itself.
package struct BootInformation: Codable, Hashable, Sendable {
    /// Whether the device is locked. A simulator never is.
    package enum LockState: String, Codable, Sendable {
        case unlocked
    }

    /// New at every boot.
    package let bootID: String
    package let lockState: LockState
    package let supervisor: Int32
}
