import BerthSystem
import Foundation
import Synchronization

/// Installs and removes the apps of a booted device, one operation at a time.
final class ApplicationInstaller: Sendable {
    /// Prefix of containers that are still being filled.
    static let stagingPrefix = ".staging-"

    private let folder: DeviceFolder
    private let applications: RunningApplications
    private let operation = Mutex<Void>(())
    private let stopped = Mutex(false)

    /// How long an installation over a running app waits for the app's status file.
    private static let patience = Duration.seconds(10)

    init(folder: DeviceFolder, applications: RunningApplications) {
        self.folder = folder
        self.applications = applications
    }

    /// Ends waiting, because the device shuts down.
    func stop() {
        stopped.withLock { $0 = true }
    }

    /// Runs an operation that no installation may overlap with. Blocks.
    func exclusively<Result>(_ body: () throws -> Result) throws -> Result {
        try operation.withLock { _ in
            guard !stopped.withLock({ $0 }) else { throw SimulatorError.wrongState("lookup", .shuttingDown) }
            return try body()
        }
    }

    /// Puts a bundle that was copied into a container aside into place. The app's data container and keychain items
    /// stay; its bundle container is a new one.
    ///
    /// - Throws: `SimulatorError`, `SystemError`; the app is then as it was.
    func install(container: String, bundleName: String, bundle: String) throws {
        try exclusively {
            let staged = "\(folder.bundles)/\(container)"
            guard container.hasPrefix(Self.stagingPrefix), !container.contains("/"), !bundleName.contains("/"),
                FileManager.default.fileExists(atPath: "\(staged)/\(bundleName)/Info.plist")
            else { throw SimulatorError.missingBundle("\(staged)/\(bundleName)") }
            endAfterStatus(bundle)
            let list = InstalledApplications(folder)
            let old = try list.application(bundle)
            let new = InstalledApplication(
                bundleIdentifier: bundle,
                bundleName: bundleName,
                bundleContainer: UUID().uuidString,
                dataContainer: old?.dataContainer ?? UUID().uuidString
            )
            try InstalledApplications.writeContainerMetadata(staged, bundle: bundle)
            try InstalledApplications.makeDataContainer(new.dataPath(folder), bundle: bundle)
            try DurableFile.rename(staged, to: new.bundleContainerPath(folder))
            try list.replace(bundle, with: new)
            if let old { FileTree.removeIfPresent(old.bundleContainerPath(folder)) }
            Log(component: "supervisor").info(
                "Installed",
                ["bundle": bundle, "container": new.bundleContainer, "update": "\(old != nil)"]
            )
        }
    }

    /// Removes an app with its data. Its keychain items stay, as on a device.
    func uninstall(_ bundle: String) throws {
        try exclusively {
            if let running = applications.application(bundle) { applications.end(running) }
            let list = InstalledApplications(folder)
            guard let old = try list.application(bundle) else { return }
            try list.replace(bundle, with: nil)
            FileTree.removeIfPresent(old.bundleContainerPath(folder))
            FileTree.removeIfPresent(old.dataPath(folder))
        }
    }

    /// Gives a running app the time to finish: a script that launches and at once installs the next build must not cut
    /// the launch short. Then ends the app.
    private func endAfterStatus(_ bundle: String) {
        guard let running = applications.application(bundle) else { return }
        let end = ContinuousClock.now + Self.patience
        while !running.hasWrittenStatus, ContinuousClock.now < end, !stopped.withLock({ $0 }) {
            if running.waitForEnd(.now() + .milliseconds(20)) { return }
        }
        applications.end(running)
    }
}
