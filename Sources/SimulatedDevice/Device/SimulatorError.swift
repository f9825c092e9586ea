/// A refusal with the domain, code and sentences that simctl prints for it.
package struct SimulatorError: Error, Hashable, Codable, Sendable, CustomStringConvertible {
    /// The error beneath an error.
    package struct Cause: Hashable, Codable, Sendable {
        let domain: String
        let code: Int
        let lines: [String]
    }

    /// Nil for the messages that simctl prints without naming a domain.
    package let domain: String?
    package let code: Int
    package let lines: [String]
    package let cause: Cause?

    init(domain: String?, code: Int, _ lines: [String], cause: Cause? = nil) {
        self.domain = domain
        self.code = code
        self.lines = lines
        self.cause = cause
    }

    /// The exit status: the code modulo 256.
    package var exitStatus: Int32 { Int32(code & 0xFF) }

    /// The whole text for standard error, ending with a line break.
    package var text: String {
        var text = ""
        if let domain {
            text += "An error was encountered processing the command (domain=\(domain), code=\(code)):\n"
        }
        text += lines.map { $0 + "\n" }.joined()
        if let cause {
            text += "Underlying error (domain=\(cause.domain), code=\(cause.code)):\n"
            text += cause.lines.map { "\t\($0)\n" }.joined()
        }
        return text
    }

    package var description: String { lines.joined(separator: " ") }
}

extension SimulatorError {
    private static let simulator = "com.apple.CoreSimulator.SimError"
    private static let frontBoard = "FBSOpenApplicationServiceErrorDomain"
    private static let posix = "NSPOSIXErrorDomain"

    static func invalidDevice(_ name: String) -> SimulatorError {
        SimulatorError(domain: nil, code: 148, ["Invalid device: \(name)"])
    }

    static let noneBooted = SimulatorError(domain: nil, code: 148, ["No devices are booted."])

    static func missingSet(_ path: String) -> SimulatorError {
        SimulatorError(domain: nil, code: 1, ["Provided set path does not exist: \(path)"])
    }

    /// The device is not in a state for an action, such as `boot device` or `lookup`.
    static func wrongState(_ action: String, _ state: DeviceState) -> SimulatorError {
        SimulatorError(domain: simulator, code: 405, ["Unable to \(action) in current state: \(state.text)"])
    }

    static let incompatibleDevice = SimulatorError(domain: simulator, code: 403, ["Incompatible device"])

    static func missingRuntime(_ name: String) -> SimulatorError {
        SimulatorError(
            domain: simulator,
            code: 401,
            ["The \(name) simulator runtime is not available.", "runtime path not found"]
        )
    }

    /// The host, not the caller, is at fault: a folder, a lock or the supervisor.
    static func hostFailure(_ lines: String...) -> SimulatorError {
        SimulatorError(domain: posix, code: 60, lines)
    }

    static func notInstalled(_ bundle: String) -> SimulatorError {
        SimulatorError(
            domain: frontBoard,
            code: 4,
            ["Simulator device failed to launch \(bundle)."],
            cause: Cause(domain: frontBoard, code: 4, lines: ["The request to open \"\(bundle)\" failed."])
        )
    }

    static func launchDenied(_ bundle: String, reason: String) -> SimulatorError {
        let denial =
            "The request was denied by service delegate (SBMainWorkspace) for reason: Unspecified (\"\(reason)\")."
        return SimulatorError(
            domain: frontBoard,
            code: 1,
            ["Simulator device returned an error for the requested operation.", denial],
            cause: Cause(domain: frontBoard, code: 1, lines: ["The request to open \"\(bundle)\" failed.", denial])
        )
    }

    static func nothingToTerminate(_ bundle: String) -> SimulatorError {
        SimulatorError(
            domain: posix,
            code: 3,
            ["Simulator device failed to terminate \(bundle).", "found nothing to terminate"],
            cause: Cause(
                domain: posix,
                code: 3,
                lines: [
                    "The request to terminate \"\(bundle)\" failed. found nothing to terminate",
                    "found nothing to terminate",
                ]
            )
        )
    }

    static func noApplicationRecord(_ bundle: String) -> SimulatorError {
        SimulatorError(
            domain: posix,
            code: 3,
            [
                "Simulator device failed to lookup application properties for \(bundle).",
                "No application record found for that bundle identifier",
            ],
            cause: Cause(
                domain: posix,
                code: 3,
                lines: ["Application not found", "No application record found for that bundle identifier"]
            )
        )
    }

    static let noContainer = SimulatorError(
        domain: posix,
        code: 2,
        ["The operation couldn’t be completed. No such file or directory", "No such file or directory"]
    )
}

// MARK: Installation

extension SimulatorError {
    private static let failedInstallation = "Simulator device failed to install the application."
    private static let presentable = "IXUserPresentableErrorDomain"
    private static let installer = "MIInstallerErrorDomain"

    static func missingBundle(_ path: String) -> SimulatorError {
        SimulatorError(
            domain: posix,
            code: 2,
            [failedInstallation, "Unhandled error domain NSPOSIXErrorDomain, code 2"],
            cause: Cause(domain: posix, code: 2, lines: ["lstat of \(path) failed: No such file or directory"])
        )
    }

    static func notABundle(_ path: String) -> SimulatorError {
        SimulatorError(
            domain: posix,
            code: 20,
            [failedInstallation, "Unhandled error domain NSPOSIXErrorDomain, code 20"],
            cause: Cause(domain: posix, code: 20, lines: ["\(path) is not the folder of an application bundle (.app)"])
        )
    }

    static func missingBundleIdentifier(_ path: String) -> SimulatorError {
        SimulatorError(
            domain: "IXErrorDomain",
            code: 13,
            [failedInstallation, "Missing bundle ID."],
            cause: Cause(
                domain: "IXErrorDomain",
                code: 13,
                lines: ["Failed to get bundle ID from \(path)", "Missing bundle ID."]
            )
        )
    }

    static func damagedInformation(_ path: String, reason: String) -> SimulatorError {
        unpresentable(
            "Failed to load Info.plist from bundle at path \(path); \(reason)",
            cause: Cause(
                domain: installer,
                code: 35,
                lines: ["Failed to load Info.plist from bundle at path \(path)"]
            )
        )
    }

    static func unusableExecutable(_ path: String, reason: String) -> SimulatorError {
        unpresentable(
            "The executable of the bundle at path \(path) cannot be used; \(reason)",
            cause: Cause(domain: installer, code: 71, lines: [reason])
        )
    }

    private static func unpresentable(_ line: String, cause: Cause) -> SimulatorError {
        SimulatorError(domain: presentable, code: 1, [failedInstallation, line], cause: cause)
    }

    static func notRunnable(name: String, executable: String, contains: String, device: String) -> SimulatorError {
        let title = "“\(name)” Needs to Be Updated"
        return SimulatorError(
            domain: presentable,
            code: 4,
            [
                "App installation failed: \(title)",
                "This app needs to be updated by the developer to work on this version of iOS.",
                "The executable at \"\(executable)\" does not contain code for any platform and CPU architecture "
                    + "combination that is runnable on this device. The executable has code for these platforms and "
                    + "architectures: [\(contains)]. This device can run code for these platforms: \(device)",
            ],
            cause: Cause(domain: presentable, code: 4, lines: [title])
        )
    }
}
