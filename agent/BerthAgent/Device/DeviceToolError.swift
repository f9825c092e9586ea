import BerthCore
import BerthSystem
import Foundation

/// A call of the device tool that failed, told apart by error domain and code: the sentences of the installer follow
/// the host's language.
package struct DeviceToolError: Error, Hashable, CustomStringConvertible {
    /// What a failure means for the farm. The raw values are causes of outcomes.
    package enum Kind: String, Sendable {
        /// The device is not in the set.
        case deviceUnknown = "device-unknown"
        /// The device's state does not allow the verb.
        case wrongState = "device-wrong-state"
        /// The system of the device is not installed on the host.
        case runtimeMissing = "runtime-missing"
        /// The device type does not go with the runtime.
        case deviceTypeMismatch = "device-type-mismatch"
        /// The app is not installed.
        case appUnknown = "app-unknown"
        /// The system refused to start the app.
        case launchDenied = "launch-denied"
        /// Nothing to terminate, or no record of the app.
        case nothingThere = "nothing-there"
        /// The bundle itself was refused.
        case buildRefused = "build-refused"
        /// A file that the call names is not there or not permitted.
        case fileRefused = "file-refused"
        /// The host has no session that can carry devices.
        case hostSession = "host-session"
        /// The service behind the tool died or was replaced.
        case serviceInterrupted = "device-service-interrupted"
        /// The call did not end within its time limit.
        case timedOut = "device-tool-timeout"
        /// The agent called the tool wrongly.
        case usage = "device-tool-usage"
        /// The device is not connected to the host, or the host does not know it.
        case deviceAbsent = "device-not-found"
        /// A person has to confirm on the device that it trusts the host.
        case notPaired = "device-not-paired"
        /// A person has to unlock the device.
        case locked = "device-locked"
        /// The device's developer mode is off.
        case developerModeOff = "developer-mode-off"
        /// The device refuses developer services: its developer mode is off, or nobody unlocked it since it was started.
        case notReady = "device-not-ready"
        /// The developer disk image is not on the device and cannot be brought there.
        case noDeveloperImage = "developer-image-unavailable"
        /// The device's system is older than the tool supports.
        case systemTooOld = "device-system-too-old"
        /// Signature or profile do not allow the build on this device.
        case signingRefused = "signing-refused"
        /// The connection to the device broke, as it does now and then on a fresh one.
        case tunnelInterrupted = "device-tunnel-interrupted"
        /// What an earlier attempt left on the device is not proved to be gone.
        case notClean = "device-not-clean"
        /// The tool could not be started.
        case notStarted = "device-tool-missing"
        /// The boot ended in a state that is no usable system.
        case bootFailed = "boot-failed"
        /// The tool said something that cannot be read.
        case unreadable = "device-tool-unreadable"
        /// Any other failure.
        case other = "device-tool-failed"
    }

    package let kind: Kind
    /// The device tool's name.
    package let tool: String
    package let verb: String
    /// What the tool said, or what was wrong with it.
    package let details: String

    package init(_ kind: Kind, tool: String = "simctl", verb: String, details: String) {
        self.kind = kind
        self.tool = tool
        self.verb = verb
        self.details = details
    }

    package var description: String { "\(tool) \(verb): \(kind.rawValue): \(details)" }

    /// As an outcome's cause.
    package var cause: OutcomeCause { OutcomeCause(kind.rawValue, "\(tool) \(verb): \(details)") }

    /// Whether the same call may work a little later.
    package var isTransient: Bool { kind == .serviceInterrupted || kind == .tunnelInterrupted }

    /// Classifies a finished call; nil when it succeeded.
    package static func classify(verb: String, _ result: CommandResult, limit: Duration) -> DeviceToolError? {
        if result.timedOut {
            let seconds = limit.components.seconds
            return DeviceToolError(.timedOut, verb: verb, details: "it did not end within \(seconds) s and was killed")
        }
        if result.termination == .exited(0) { return nil }
        let text = result.errorText
        let details = "\(result.termination): \(summary(of: text))"
        return DeviceToolError(kind(of: result.termination, text, verb), verb: verb, details: details)
    }

    private static func kind(of termination: Termination, _ text: String, _ verb: String) -> Kind {
        if text.contains("CoreSimulatorService connection became") || text.contains("connection interrupted") {
            return .serviceInterrupted
        }
        if text.contains("Failed to load Info.plist from bundle at path")
            || text.contains("This app could not be installed at this time")
        {
            return .serviceInterrupted
        }
        if text.contains("could not bind to session") { return .hostSession }
        guard let (domain, code) = domainAndCode(in: text) else {
            switch termination {
            case .exited(148): return .deviceUnknown
            case .exited(117): return .usage
            case .exited(127): return .notStarted
            default: return text.contains("missing DEVELOPER_DIR path") ? .notStarted : .other
            }
        }
        switch (domain, code) {
        case ("com.apple.CoreSimulator.SimError", 405), ("com.apple.CoreSimulator.SimError", 159),
            ("com.apple.CoreSimulator.SimError", 164), ("com.apple.CoreSimulator.SimError", 165):
            return .wrongState
        case ("com.apple.CoreSimulator.SimError", 401), ("com.apple.CoreSimulator.SimError", 162):
            return .runtimeMissing
        case ("com.apple.CoreSimulator.SimError", 403): return .deviceTypeMismatch
        case ("com.apple.CoreSimulator.SimError", 404): return .deviceUnknown
        case ("FBSOpenApplicationServiceErrorDomain", 4): return .appUnknown
        case ("FBSOpenApplicationServiceErrorDomain", _): return .launchDenied
        case ("NSPOSIXErrorDomain", 3): return .nothingThere
        case ("NSPOSIXErrorDomain", 2), ("NSPOSIXErrorDomain", 13): return .fileRefused
        case ("NSPOSIXErrorDomain", 60): return .hostSession
        case (let domain, _) where domain.hasPrefix("IX") || domain.hasPrefix("MI"): return .buildRefused
        default: return .other
        }
    }

    /// The first `(domain=…, code=…)` of a text, which need not be on its first line.
    static func domainAndCode(in text: String) -> (domain: String, code: Int)? {
        guard let start = text.range(of: "(domain="),
            let middle = text.range(of: ", code=", range: start.upperBound..<text.endIndex),
            let end = text.range(of: ")", range: middle.upperBound..<text.endIndex),
            let code = Int(text[middle.upperBound..<end.lowerBound])
        else { return nil }
        return (String(text[start.upperBound..<middle.lowerBound]), code)
    }

    private static func summary(of text: String) -> String {
        let lines = text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
        let summary = String(lines.filter { !$0.isEmpty }.prefix(6).joined(separator: " | ").prefix(600))
        return summary.isEmpty ? "it said nothing" : summary
    }
}
