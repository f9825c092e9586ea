import BerthSystem
import Foundation

/// An app on a device: which containers are its own.
struct InstalledApplication: Codable, Hashable, Sendable {
    let bundleIdentifier: String
    /// Name of the bundle's folder, such as `correct.app`.
    let bundleName: String
    /// UUID of the bundle container: a new one at every installation.
    let bundleContainer: String
    /// UUID of the data container: stays until the app is uninstalled.
    let dataContainer: String

    func bundlePath(_ folder: DeviceFolder) -> String { "\(bundleContainerPath(folder))/\(bundleName)" }
    func bundleContainerPath(_ folder: DeviceFolder) -> String { "\(folder.bundles)/\(bundleContainer)" }
    func dataPath(_ folder: DeviceFolder) -> String { "\(folder.dataContainers)/\(dataContainer)" }
}

/// The list of a device's apps. Replacing it is the moment in which an installation happens; what it does not name is
/// rubbish and is removed at the next boot.
struct InstalledApplications: Sendable {
    private let folder: DeviceFolder

    init(_ folder: DeviceFolder) {
        self.folder = folder
    }

    /// All apps, in the order of their bundle identifiers.
    ///
    /// - Throws: `SystemError`, `DecodingError`
    func all() throws -> [InstalledApplication] {
        do {
            let bytes = try DurableFile.read(folder.applications, limit: 16 << 20)
            return try PropertyListDecoder().decode([InstalledApplication].self, from: Data(bytes))
        } catch let error as SystemError where error.code == ENOENT {
            return []
        }
    }

    func application(_ bundle: String) throws -> InstalledApplication? {
        try all().first { $0.bundleIdentifier == bundle }
    }

    /// Writes down an installation or, with nil, a removal.
    func replace(_ bundle: String, with application: InstalledApplication?) throws {
        var list = try all().filter { $0.bundleIdentifier != bundle }
        if let application { list.append(application) }
        list.sort { $0.bundleIdentifier < $1.bundleIdentifier }
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .xml
        try DurableFile.makeFolder((folder.applications as NSString).deletingLastPathComponent)
        try DurableFile.replace(folder.applications, with: Array(encoder.encode(list)))
    }

    /// Removes containers that no app has: traces of an installation that was cut short.
    func removeUnnamedContainers() throws {
        let applications = try all()
        let used = Set(applications.flatMap { [$0.bundleContainer, $0.dataContainer] })
        for place in [folder.bundles, folder.dataContainers] {
            let names = (try? FileManager.default.contentsOfDirectory(atPath: place)) ?? []
            for name in names where !used.contains(name) { FileTree.removeIfPresent("\(place)/\(name)") }
        }
    }

    /// Makes the folders that every app finds in its data container.
    static func makeDataContainer(_ path: String, bundle: String) throws {
        for name in ["Documents", "Library/Caches", "Library/Preferences", "SystemData", "tmp"] {
            try DurableFile.makeFolder("\(path)/\(name)")
        }
        try writeContainerMetadata(path, bundle: bundle)
    }

    /// Says in the container whose it is, where Apple's tools look for it.
    static func writeContainerMetadata(_ container: String, bundle: String) throws {
        let path = "\(container)/.com.apple.mobile_container_manager.metadata.plist"
        guard !FileManager.default.fileExists(atPath: path) else { return }
        let metadata = ["MCMMetadataIdentifier": bundle]
        let data = try PropertyListSerialization.data(fromPropertyList: metadata, format: .xml, options: 0)
        try DurableFile.replace(path, with: Array(data))
    }
}
