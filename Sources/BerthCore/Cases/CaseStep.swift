/// One step of a case.
package enum CaseStep: Sendable, Hashable {
    /// Installs over whatever is installed.
    case install(BuildRole)
    /// Launches the build that was installed last.
    case launch(CaseLaunch)
    /// Ends the running app.
    case terminate
    /// Shuts the device down and boots it again.
    case reboot
    /// Lets keychain calls of apps fail.
    case fault(KeychainFault)
    case lock
    case unlock

    /// The step in words, as shown while it runs.
    package var title: String {
        switch self {
        case .install(let role): "install \(role.rawValue)"
        case .launch(let launch): launch.title
        case .terminate: "terminate"
        case .reboot: "reboot"
        case .fault(let fault):
            ["fault", fault.call.rawValue, "\(fault.status)", StatusCode(fault.status).name ?? ""]
                .filter { !$0.isEmpty }.joined(separator: " ")
        case .lock: "lock"
        case .unlock: "unlock"
        }
    }

    /// What a slot must offer to carry the step out, beyond the basics.
    package var feature: String? {
        switch self {
        case .fault: SlotFeature.keychainFaults
        case .lock, .unlock: SlotFeature.lock
        case .reboot: SlotFeature.reboot
        case .install, .launch, .terminate: nil
        }
    }
}

/// What slots may offer beyond the basics.
package enum SlotFeature {
    /// Keychain calls of apps can be made to fail.
    package static let keychainFaults = "keychain-faults"
    /// The device can be locked and unlocked.
    package static let lock = "lock"

    /// The device can be shut down and booted again.
    package static let reboot = "reboot"

    package static let all = [keychainFaults, lock, reboot]
}

/// A build's place in the path.
package enum BuildRole: String, Sendable, Hashable, Codable, CaseIterable {
    case old
    /// The one in the middle of a path of three builds.
    case transitional
    case new
}

/// What a launch asks the probe for.
package enum LaunchPhase: String, Sendable, Hashable, Codable, CaseIterable {
    case seed
    case verify
    /// Brings the device into a state that no build would bring it into.
    case prepare
    /// Looks and touches nothing.
    case census
    /// The farm's own last launch; no step of a case.
    case cleanup
}

/// Keychain calls that are made to fail.
package struct KeychainFault: Sendable, Hashable {
    package enum Call: String, Sendable, Hashable, Codable, CaseIterable {
        case add
        case copy
        case update
        case delete
    }

    package let call: Call
    /// The OSStatus that the call answers with.
    package let status: Int32
    /// How many calls fail.
    package let times: Int
    /// How many calls go through first.
    package let after: Int

    package init(call: Call, status: Int32, times: Int = 1, after: Int = 0) {
        self.call = call
        self.status = status
        self.times = times
        self.after = after
    }
}
