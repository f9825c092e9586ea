import BerthSystem
import Foundation

/// Where apps are and what they say about themselves.
struct LookupVerbs {
    let set: DeviceSet

    func container(_ arguments: Arguments) throws {
        let names = try arguments.positional(2...3)
        let device = try set.bootedDevice(names[0])
        guard let application = try InstalledApplications(device.folder).application(names[1]) else {
            throw SimulatorError.noContainer
        }
        switch names.count == 3 ? names[2] : "app" {
        case "app": StandardStreams.writeOutput(application.bundlePath(device.folder) + "\n")
        case "data": StandardStreams.writeOutput(application.dataPath(device.folder) + "\n")
        // Apps here have no group containers.
        case "groups": return
        default: throw SimulatorError.noContainer
        }
    }

    func list(_ arguments: Arguments) throws {
        let names = try arguments.positional(1...1)
        let device = try set.bootedDevice(names[0])
        let applications = try InstalledApplications(device.folder).all()
        let entries = applications.map { ($0.bundleIdentifier, properties($0, device.folder)) }
        let list = OpenStepValue.dictionary(Dictionary(uniqueKeysWithValues: entries))
        StandardStreams.writeOutput(list.text + "\n")
    }

    func information(_ arguments: Arguments) throws {
        let names = try arguments.positional(2...2)
        let device = try set.bootedDevice(names[0])
        guard let application = try InstalledApplications(device.folder).application(names[1]) else {
            throw SimulatorError.noApplicationRecord(names[1])
        }
        StandardStreams.writeOutput(properties(application, device.folder).text + "\n")
    }

    private func properties(_ application: InstalledApplication, _ folder: DeviceFolder) -> OpenStepValue {
        let path = application.bundlePath(folder)
        var entries: [String: OpenStepValue] = [
            "ApplicationType": .string("User"),
            "Bundle": .string("file://\(path)/"),
            "BundleContainer": .string("file://\(application.bundleContainerPath(folder))/"),
            "CFBundleIdentifier": .string(application.bundleIdentifier),
            "DataContainer": .string("file://\(application.dataPath(folder))/"),
            "GroupContainers": .dictionary([:]),
            "IsAppClip": .string("0"), "IsDeveloperApp": .string("1"), "IsFirstParty": .string("0"),
            "IsHidden": .string("0"), "IsRemovable": .string("1"),
            "Path": .string(path),
            "SBAppTags": .array([]),
        ]
        if let bundle = try? ApplicationBundle(path: path) {
            entries["CFBundleDisplayName"] = .string(bundle.displayName)
            for key in ["CFBundleExecutable", "CFBundleName", "CFBundleShortVersionString", "CFBundleVersion"] {
                if let text = bundle.information[key] as? String { entries[key] = .string(text) }
            }
        }
        return .dictionary(entries)
    }
}
