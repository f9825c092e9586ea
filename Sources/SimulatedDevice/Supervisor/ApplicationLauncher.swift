import BerthSystem
import Foundation

/// Starts the apps of a booted device.
struct ApplicationLauncher: Sendable {
    let folder: DeviceFolder
    let record: DeviceRecord
    let runtime: Runtime
    let applications: RunningApplications
    let thread: LaunchThread

    /// Starts an app, or answers with the instance that runs.
    ///
    /// - Parameter request: what to start and how.
    /// - Returns: the process ID.
    /// - Throws: `SimulatorError`
    func launch(_ request: LaunchRequest) throws -> Int32 {
        guard let installed = try InstalledApplications(folder).application(request.bundle) else {
            throw SimulatorError.notInstalled(request.bundle)
        }
        if let running = applications.application(request.bundle) {
            guard request.terminateRunning else { return running.process }
            applications.end(running)
        }
        let bundle = try ApplicationBundle(path: installed.bundlePath(folder))
        // Without entitlements an app has no access group, and the keychain says so to it.
        let client = KeychainClient(entitlements: try ApplicationBundle.entitlements(bundle.path) ?? [:])
        let container = installed.dataPath(folder)
        try InstalledApplications.makeDataContainer(container, bundle: request.bundle)
        let specification = BoundProcess.Specification(
            executable: bundle.executable,
            arguments: request.arguments,
            environment: environment(container, additions: request.environment),
            workingDirectory: container,
            standardOutput: request.standardOutput,
            standardError: request.standardError
        )
        do {
            return try thread.perform {
                try applications.start(
                    specification,
                    bundle: request.bundle,
                    client: client,
                    dataContainer: container
                ).process
            }
        } catch let error as SystemError {
            throw SimulatorError.launchDenied(request.bundle, reason: "\(error)")
        }
    }

    /// The app's whole environment. What the device says about itself is not for the caller to change.
    private func environment(_ container: String, additions: [String: String]) -> [String: String] {
        let own = [
            "HOME": container,
            "CFFIXED_USER_HOME": container,
            "TMPDIR": "\(container)/tmp/",
            "PATH": "/usr/bin:/bin:/usr/sbin:/sbin",
            "LANG": "C.UTF-8",
            "LD_LIBRARY_PATH": runtime.libraries,
            "SIMULATOR_UDID": record.udid,
            "SIMULATOR_DEVICE_NAME": record.name,
            "SIMULATOR_ROOT": runtime.root,
            "SIMULATOR_RUNTIME_VERSION": runtime.version,
            "SIMULATOR_RUNTIME_BUILD_VERSION": runtime.build,
            KeychainListener.variable: folder.keychainSocket,
        ]
        return additions.merging(own) { _, own in own }
    }
}
