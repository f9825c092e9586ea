import BerthCore
import BerthSystem
import Foundation
import Synchronization

/// Simulated devices that are kept after a failure until a person releases them: one small file for each. What the disk
/// does not take counts in memory, and goes there as soon as it can. Of devices whose attempts this agent has begun all is
/// known; any other without a file may have been kept by an agent whose disk did not take it.
package final class PreservedDevices: Sendable {
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
        /// Why the attempt's evidence is not on disk, while it is not.
        package var evidence: OutcomeCause?
        /// Nobody had noted it: its agent died. It gives way when the slot needs its place.
        package var isFound: Bool?
    }

    private static let log = Log(component: "simulators")
    private let folder: String
    /// Entries that are not on disk as they are, by UDID.
    private let unwritten = Mutex<[String: Entry]>([:])
    /// Attempts of this agent whose devices may be there.
    private let begun = Mutex<Set<String>>([])

    /// - Throws: `SystemError`
    package init(folder: String) throws {
        self.folder = folder
        try DurableFile.makeFolder(folder)
        // What a crash left of notes that were being written.
        for name in Folders.names(in: folder) where name.hasSuffix(".partial") { unlink("\(folder)/\(name)") }
    }

    /// This agent begins an attempt: its device is kept only if it is noted.
    package func begin(_ attempt: String) { begun.withLock { _ = $0.insert(attempt) } }

    /// The attempt's device is gone, or noted.
    package func end(_ attempt: String) { begun.withLock { _ = $0.remove(attempt) } }

    /// Whether this agent has begun an attempt and knows that its device is not kept unless it is noted.
    package func knows(_ attempt: String) -> Bool { begun.withLock { $0.contains(attempt) } }

    /// All entries; an unreadable one counts too, under its file's name. Blocks for as long as small files take.
    package func all() -> [Entry] {
        let owed = unwritten.withLock { $0 }
        let written = Folders.names(in: folder).filter { $0.hasSuffix(".json") }.map { name in
            let entry = try? CanonicalJSON.decode(
                Entry.self,
                from: DurableFile.read("\(folder)/\(name)", limit: 1 << 16),
                document: name
            )
            return entry
                ?? Entry(udid: String(name.dropLast(5)), attempt: "unknown", run: "unknown", since: 0, cause: nil)
        }
        return written.filter { owed[$0.udid] == nil } + owed.values
    }

    /// Makes sure that no kept device is passed over because the folder cannot be read.
    /// - Throws: `SystemError`
    package func requireReadable() throws {
        _ = try FileDescriptor(path: folder, flags: O_RDONLY | O_DIRECTORY)
    }

    /// Whether a device is kept.
    package func holds(_ udid: String) -> Bool {
        unwritten.withLock { $0[udid] != nil } || access("\(folder)/\(udid).json", F_OK) == 0
    }

    /// Forgets a device that is gone.
    package func remove(_ udid: String) {
        unwritten.withLock { $0[udid] = nil }
        unlink("\(folder)/\(udid).json")
    }

    /// Notes a device, on disk when this returns or as soon as it can be. Blocks.
    package func add(_ entry: Entry) {
        unwritten.withLock { unwritten in
            unwritten[entry.udid] = entry
            do {
                try Self.write(entry, in: folder)
                unwritten[entry.udid] = nil
            } catch {
                Self.log.error("the note of a kept device is not on disk", ["device": entry.udid, "error": "\(error)"])
                // A name often finds room where content does not, and is enough for a new agent to keep the device (E2).
                _ = try? FileDescriptor(path: "\(folder)/\(entry.udid).json", flags: O_WRONLY | O_CREAT)
            }
        }
    }

    /// Forgets devices whose folders are no longer in the set, since somebody has released them, and writes what could not
    /// be written before. Blocks.
    package func prune(set: String) {
        // A set that cannot be looked at says nothing about its devices.
        for entry in all() where access("\(set)/\(entry.udid)", F_OK) != 0 && errno == ENOENT { remove(entry.udid) }
        unwritten.withLock { unwritten in
            for entry in unwritten.values where (try? Self.write(entry, in: folder)) != nil {
                unwritten[entry.udid] = nil
            }
        }
    }

    private static func write(_ entry: Entry, in folder: String) throws {
        try DurableFile.replace("\(folder)/\(entry.udid).json", with: try CanonicalJSON.encode(entry))
    }
}
