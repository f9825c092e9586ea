import Foundation

extension DevicectlFailure {
    private static let core = "com.apple.dt.CoreDeviceError"

    /// What the failure means for the farm. The errors underneath say more than the top one, and codes more than texts.
    package var kind: DeviceToolError.Kind {
        let chain = chain
        for failure in chain {
            if let kind = failure.specific { return kind }
        }
        for failure in chain {
            if let kind = failure.general { return kind }
        }
        return .other
    }

    /// A meaning that no other error of the chain can take back.
    private var specific: DeviceToolError.Kind? {
        let text = texts.values.joined(separator: " ")
        // The low 32 bits: the tool writes these codes signed or unsigned.
        switch UInt32(truncatingIfNeeded: code) {
        case 0xE800_00E2: return .locked
        case 0xE800_8015, 0xE800_8016, 0xE800_801C, 0xE800_8021: return .signingRefused
        case 0xE800_0003: return .tunnelInterrupted
        default: break
        }
        switch (domain, code) {
        case ("FBSOpenApplicationErrorDomain", 7): return .locked
        case ("NSOSStatusErrorDomain", -10814): return .appUnknown
        case ("com.apple.Mercury.error", 1000), ("com.apple.dt.RemotePairingError", _): return .tunnelInterrupted
        case ("NSPOSIXErrorDomain", 22), ("NSPOSIXErrorDomain", 54), ("NSPOSIXErrorDomain", 57):
            return .tunnelInterrupted
        case ("NSPOSIXErrorDomain", 3): return .nothingThere
        default: break
        }
        if text.contains("reason: Locked (") { return .locked }
        if text.contains("reason: Security (") { return .signingRefused }
        if text.contains("Developer Mode is disabled") { return .developerModeOff }
        if domain.hasPrefix("MI") || domain.hasPrefix("IX") {
            return Self.signingWords.contains { text.contains($0) } ? .signingRefused : .buildRefused
        }
        return nil
    }

    /// How the installer names its codes when it gives them as text.
    private static let signingWords = ["0xe8008015", "0xe8008016", "0xe800801c", "0xe8008021"].flatMap {
        [$0, "0xE80080" + $0.suffix(2).uppercased()]
    }

    private var general: DeviceToolError.Kind? {
        switch (domain, code) {
        case (Self.core, 1000), (Self.core, 1011): .deviceAbsent
        case (Self.core, 1001): .notReady
        case (Self.core, 2): .notPaired
        case (Self.core, 4), (Self.core, 4000): .tunnelInterrupted
        case (Self.core, 1005), ("NSCocoaErrorDomain", 260): .fileRefused
        case (Self.core, 10002): .launchDenied
        case (Self.core, 12040): .noDeveloperImage
        default: nil
        }
    }

    /// The error that a text on standard error names, where there is no report: `(domain error code.)`, with or without
    /// the code in hexadecimal after it.
    package static func inText(_ text: String) -> DevicectlFailure? {
        var found: [DevicectlFailure] = []
        for part in text.components(separatedBy: "(").dropFirst() {
            let words = part.split(separator: " ")
            guard words.count >= 3, words[1] == "error",
                let code = Int(words[2].prefix { $0.isNumber || $0 == "-" })
            else { continue }
            found.append(DevicectlFailure(domain: String(words[0]), code: code, texts: [:], underlying: []))
        }
        guard let first = found.first else { return nil }
        let summary = text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: " ")
        return DevicectlFailure(
            domain: first.domain,
            code: first.code,
            texts: ["NSLocalizedDescription": String(summary.prefix(600))],
            underlying: Array(found.dropFirst())
        )
    }

    private init(domain: String, code: Int, texts: [String: String], underlying: [DevicectlFailure]) {
        self.domain = domain
        self.code = code
        self.texts = texts
        self.underlying = underlying
    }
}
