import BerthSystem
import Foundation

/// Installing, ending and removing apps.
struct ApplicationVerbs {
    let set: DeviceSet

    func install(_ arguments: Arguments) throws {
        let names = try arguments.positional(2...2)
        let device = try booted(names[0])
        let path = URL(fileURLWithPath: names[1]).standardizedFileURL.path
        let bundle = try ApplicationBundle(path: path)
        let container = ApplicationInstaller.stagingPrefix + UUID().uuidString
        let staged = "\(device.folder.bundles)/\(container)"
        let name = (path as NSString).lastPathComponent
        do {
            try DurableFile.makeFolder(staged)
            try FileTree.copy(path, to: "\(staged)/\(name)")
            _ = try ControlClient(device).ask(
                .install(container: container, bundleName: name, bundle: bundle.identifier)
            )
        } catch {
            FileTree.removeIfPresent(staged)
            throw error
        }
    }

    func uninstall(_ arguments: Arguments) throws {
        let names = try arguments.positional(2...2)
        _ = try ControlClient(booted(names[0])).ask(.uninstall(bundle: names[1]))
    }

    func terminate(_ arguments: Arguments) throws {
        let names = try arguments.positional(2...2)
        _ = try ControlClient(booted(names[0])).ask(.terminate(bundle: names[1]))
    }

    private func booted(_ name: String) throws -> Device {
        try set.bootedDevice(name)
    }
}

extension DeviceSet {
    /// A device for a verb that needs it booted.
    ///
    /// - Throws: `SimulatorError`
    func bootedDevice(_ name: String) throws -> Device {
        let device = try device(name)
        let state = try device.state()
        guard state == .booted else { throw SimulatorError.wrongState("lookup", state) }
        return device
    }
}
