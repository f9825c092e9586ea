/// An error as devicectl writes it: domain, code, user information in typed wrappers, and the error underneath.
struct DevicectlError: Error {
    let domain: String
    let code: Int
    let description: String
    var reason: String?
    /// Further user information.
    var information: [String: String] = [:]
    var underlying: [DevicectlError] = []

    private static let core = "com.apple.dt.CoreDeviceError"

    /// The `error` of a report.
    var json: [String: Any] {
        var information: [String: Any] = self.information.mapValues { ["string": $0] }
        information["NSLocalizedDescription"] = ["string": description]
        if let reason { information["NSLocalizedFailureReason"] = ["string": reason] }
        if let first = underlying.first { information["NSUnderlyingError"] = ["error": first.json] }
        return ["domain": domain, "code": code, "userInfo": information]
    }

    /// What is written to standard error.
    var text: String {
        let hexadecimal = code >= 0 ? " (0x\(String(code, radix: 16, uppercase: true)))" : ""
        var text = "ERROR: \(description) (\(domain) error \(code)\(hexadecimal))\n"
        if let reason { text += "       NSLocalizedFailureReason = \(reason)\n" }
        for error in underlying { text += "       ----------------------------------------\n    " + error.text }
        return text
    }
}

extension DevicectlError {
    static let deviceNotFound = DevicectlError(
        domain: core,
        code: 1000,
        description: "The specified device was not found."
    )

    static let notPaired = DevicectlError(
        domain: core,
        code: 2,
        description: "The device must be paired before it can be connected."
    )

    static func capabilityMissing(_ name: String) -> DevicectlError {
        DevicectlError(
            domain: core,
            code: 1001,
            description: "The capability \"\(name)\" is not supported by this device.",
            information: ["CapabilityName": name]
        )
    }

    static let noDeveloperImage = DevicectlError(
        domain: core,
        code: 12040,
        description: "The developer disk image could not be mounted on this device.",
        underlying: [
            DevicectlError(
                domain: "com.apple.dt.DDIErrorDomain",
                code: 1,
                description: "The operation failed because the image is not there."
            )
        ]
    )

    static func launchFailed(reason: String? = nil, _ underlying: DevicectlError) -> DevicectlError {
        DevicectlError(
            domain: core,
            code: 10002,
            description: "The application failed to launch.",
            reason: reason,
            underlying: [underlying]
        )
    }

    static func notInstalled(_ bundle: String) -> DevicectlError {
        launchFailed(
            reason: "The requested application \(bundle) is not installed.",
            DevicectlError(domain: "NSOSStatusErrorDomain", code: -10814, description: "The app was not found.")
        )
    }

    static func locked(_ bundle: String) -> DevicectlError {
        let words = "Unable to launch \(bundle) because the device was not, or could not be, unlocked"
        return launchFailed(
            reason: "The request was denied by service delegate (SBMainWorkspace) for reason: Locked (\"\(words)\").",
            DevicectlError(
                domain: "FBSOpenApplicationErrorDomain",
                code: 7,
                description: "Locked",
                information: ["BSErrorCodeDescription": "Locked"]
            )
        )
    }

    static let freshTunnel = launchFailed(
        DevicectlError(
            domain: "NSPOSIXErrorDomain",
            code: 22,
            description: "The operation couldn’t be completed. Invalid argument"
        )
    )

    static func installFailed(_ underlying: DevicectlError) -> DevicectlError {
        DevicectlError(
            domain: core,
            code: 3002,
            description: "Failed to install the app on the device.",
            underlying: [underlying]
        )
    }

    static func noFile(_ path: String) -> DevicectlError {
        DevicectlError(
            domain: core,
            code: 1005,
            description: "Could not obtain access to one or more requested file system resources because CoreDevice "
                + "was unable to create bookmark data.",
            information: ["NSURL": "file://\(path)"],
            underlying: [
                DevicectlError(domain: "NSCocoaErrorDomain", code: 260, description: "The file doesn’t exist.")
            ]
        )
    }

    static func signalFailed(_ number: Int32, _ process: Int32) -> DevicectlError {
        DevicectlError(
            domain: core,
            code: 10014,
            description: "Failed to send signal \(number) to process \(process).",
            reason: "No such process; the process may have already terminated.",
            underlying: [DevicectlError(domain: "NSPOSIXErrorDomain", code: 3, description: "No such process")]
        )
    }

    /// A file or container of the device that cannot be had.
    static func fileService(_ reason: String) -> DevicectlError {
        DevicectlError(
            domain: core,
            code: 7000,
            description: "The file service of the device refused the request.",
            reason: reason,
            underlying: [DevicectlError(domain: "NSPOSIXErrorDomain", code: 2, description: "No such file")]
        )
    }

    /// What the device underneath answered, with its own domains below.
    static func device(_ error: SimulatorError) -> DevicectlError {
        DevicectlError(
            domain: error.domain ?? "com.apple.CoreSimulator.SimError",
            code: error.code,
            description: error.lines.joined(separator: " "),
            underlying: error.cause.map { cause in
                [
                    DevicectlError(
                        domain: cause.domain,
                        code: cause.code,
                        description: cause.lines.joined(separator: " ")
                    )
                ]
            } ?? []
        )
    }
}
