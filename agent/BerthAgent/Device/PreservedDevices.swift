import BerthCore
import BerthSystem
import Foundation

/// Simulated devices that are kept after a failure until a person releases them: one small file for each.
package struct PreservedDevices: Sendable {
    /// What is kept and why.
    package struct Entry: Sendable, Hashable, Codable {
        package let udid: String
        package let attempt: String
        package let run: String
        /// The host's wall clock, milliseconds since 1970.
        package let since: Int64
        /// The cause's code.
        package let cause: String?
        package var outcome: Outcome?
        package var caseName: String?
        /// The bundle ID of the attempt's app.
        package var bundle: String?
        /// Bytes on disk when it was put away.
        package var size: Int64?
    }

    private let folder: String

    /// - Throws: `SystemError`
    package init(folder: String) throws {
        self.folder = folder
        try DurableFile.makeFolder(folder)
    }

    /// All entries; an unreadable one counts too, under its file's name.
    package func all() -> [Entry] {
        Folders.names(in: folder).filter { $0.hasSuffix(".json") }.map { name in
            let entry = try? CanonicalJSON.decode(
                Entry.self,
                from: DurableFile.read("\(folder)/\(name)", limit: 1 << 16),
                document: name
            )
            return entry
                ?? Entry(udid: String(name.dropLast(5)), attempt: "unknown", run: "unknown", since: 0, cause: nil)
        }
    }

    /// Whether a device is kept.
    package func holds(_ udid: String) -> Bool { access("\(folder)/\(udid).json", F_OK) == 0 }

    /// Forgets a device that is gone.
    package func remove(_ udid: String) {
        unlink("\(folder)/\(udid).json")
    }

    /// - Throws: `SystemError`
    package func add(_ entry: Entry) throws {
        try DurableFile.replace("\(folder)/\(entry.udid).json", with: try CanonicalJSON.encode(entry))
    }

    /// Forgets devices whose folders are no longer in the set: somebody has released them.
    package func prune(set: String) {
        for entry in all() where access("\(set)/\(entry.udid)", F_OK) != 0 { unlink("\(folder)/\(entry.udid).json") }
    }
}
