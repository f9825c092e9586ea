import Foundation

/// What the probe takes from around it: keychain, data container, bundle, marker and standard error.
struct ProbeEnvironment {
    var keychain: KeychainAccess
    /// `Documents` of the app's data container.
    var documents: URL
    var build: StatusFile.Build
    var marker: KeychainSchemaMarker
    /// Says something on standard error.
    var complain: (String) -> Void
    /// Ends this process as a crash would, without a trace.
    var die: @Sendable () -> Void = { kill(getpid(), SIGKILL) }

    /// The running app's.
    static func system(_ preferences: UserDefaults) -> ProbeEnvironment {
        let information = Bundle.main.infoDictionary ?? [:]
        func text(_ key: String) -> String { information[key] as? String ?? "" }
        return ProbeEnvironment(
            keychain: .system,
            documents: URL(fileURLWithPath: home).appendingPathComponent("Documents", isDirectory: true),
            build: StatusFile.Build(
                bundleIdentifier: text("CFBundleIdentifier"),
                version: text("CFBundleShortVersionString"),
                number: text("CFBundleVersion")
            ),
            marker: KeychainSchemaMarker(preferences: preferences),
            complain: { FileHandle.standardError.write(Data(($0 + "\n").utf8)) }
        )
    }

    /// The app's data container.
    private static var home: String {
        #if os(Linux)
            // Foundation would answer with the account's home; a simulated device gives the container in HOME.
            ProcessInfo.processInfo.environment["HOME"] ?? NSHomeDirectory()
        #else
            NSHomeDirectory()
        #endif
    }
}
