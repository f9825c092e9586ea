import Foundation
import Synchronization

/// For the fault harness alone: the disk under a program that forgets what was not synchronised. The program notes each
/// change before it makes it, and each synchronisation after it; whoever kills it takes back what is left, as a power
/// cut does. The program itself and its neighbours see everything meanwhile, as they do in a kernel's page cache.
package final class LossyDisk: Sendable {
    private struct Notes {
        var changes = UnsyncedChanges()
        var length = 0
        /// The number of the next change.
        var next: UInt64 = 1
    }

    private static let shared = Mutex<LossyDisk?>(nil)
    /// Notes above this length are written anew, in bytes.
    private static let longest = 8 << 20

    /// The disk of this process; nil everywhere but in the harness.
    package static var current: LossyDisk? { shared.withLock { $0 } }

    private let path: String
    private let file: Mutex<FileDescriptor>
    private let notes = Mutex(Notes())

    /// Begins with everything synchronised that is there.
    /// - Parameter path: the file of notes, on another file system than one that is filled on purpose.
    /// - Throws: `SystemError`
    private init(notes path: String) throws {
        self.path = path
        file = Mutex(try FileDescriptor(path: path, flags: O_WRONLY | O_APPEND | O_CREAT | O_TRUNC))
    }

    /// Lets this process work on such a disk from now on.
    /// - Parameter path: the file of notes.
    /// - Throws: `SystemError`
    package static func begin(notes path: String) throws {
        let disk = try LossyDisk(notes: path)
        shared.withLock { $0 = disk }
    }

    /// Takes back what a process that is dead had not synchronised: all of it, or all after a place that `cut` draws.
    /// - Parameters:
    ///   - path: the file of notes; without one nothing is taken back.
    ///   - waitsForRoom: called when a full disk stands in the way; whether to try again.
    ///   - cut: how many of so many changes reach the disk all the same.
    /// - Throws: `UnsyncedChanges.UndoFailure`, `SystemError`
    package static func takeBack(
        notes path: String,
        waitsForRoom: () -> Bool = { false },
        cut: (Int) -> Int = { _ in 0 }
    ) throws {
        guard access(path, F_OK) == 0 else { return }
        let bytes = try DurableFile.read(path, limit: 1 << 30)
        var changes = UnsyncedChanges()
        let decoder = JSONDecoder()
        // The last line may have been cut off: its change was not made then.
        for line in bytes.split(separator: 10) {
            guard let event = try? decoder.decode(UnsyncedChanges.Event.self, from: Data(line)) else { break }
            changes.apply(event)
        }
        try changes.undo(
            keeping: changes.all.isEmpty ? 0 : cut(changes.all.count),
            waitsForRoom: waitsForRoom
        )
        try retryingInterrupts("empty", path) { truncate(path, 0) }
    }

    /// Synchronises a file, and notes that what was changed before lasts. Without such a disk it only synchronises.
    /// - Parameters:
    ///   - path: the file.
    ///   - body: synchronises it.
    /// - Throws: `SystemError`, what `body` throws
    package static func synchronizing(file path: String, _ body: () throws -> Void) throws {
        guard let disk = current else { return try body() }
        let mark = disk.mark
        try body()
        try disk.note(.fileSynced(path, before: mark))
    }

    /// Synchronises a folder, and notes that the names that it had before last.
    /// - Parameters:
    ///   - path: the folder.
    ///   - body: synchronises it.
    /// - Throws: `SystemError`, what `body` throws
    package static func synchronizing(folder path: String, _ body: () throws -> Void) throws {
        guard let disk = current else { return try body() }
        let mark = disk.mark
        try body()
        try disk.note(.folderSynced(path, before: mark))
    }

    // MARK: Changes, before they are made

    /// Bytes are about to be written, or cut off.
    /// - Parameters:
    ///   - path: the file.
    ///   - length: its present length.
    ///   - offset: where they begin.
    ///   - bytes: what stands there now.
    /// - Throws: `SystemError`; then nothing may be changed
    package func willWrite(_ path: String, length: Int64, offset: Int64, bytes: Data = Data()) throws {
        try note(.written(path: path, length: length, offset: offset, bytes: bytes))
    }

    /// What stands from a place on is about to be cut off.
    /// - Parameters:
    ///   - path: the file.
    ///   - length: the place.
    /// - Throws: `SystemError`; then nothing may be changed
    package func willCut(_ path: String, to length: Int) throws {
        let bytes = try DurableFile.read(path, limit: 1 << 30)
        try willWrite(path, length: Int64(bytes.count), offset: Int64(length), bytes: Data(bytes.dropFirst(length)))
    }

    /// Bytes are about to be appended.
    /// - Throws: `SystemError`; then nothing may be changed
    func willAppend(_ path: String, to file: FileDescriptor) throws {
        var status = stat()
        try retryingInterrupts("look at", path) { fstat(file.number, &status) }
        try willWrite(path, length: Int64(status.st_size), offset: Int64(status.st_size))
    }

    /// A file is about to get another name.
    /// - Throws: `SystemError`; then nothing may be changed
    func willRename(_ from: String, to path: String) throws {
        let replaced = FileManager.default.contents(atPath: path)
        try note(.named(from: from, to: path, replaced: replaced))
    }

    // MARK: What has happened

    /// A file or folder was made.
    /// - Throws: `SystemError`
    package func didMake(_ path: String) throws { try note(.made(path: path)) }

    /// What has been changed so far has lower numbers: to be asked before a synchronisation begins.
    package var mark: UInt64 { notes.withLock { $0.next } }

    /// A file's bytes are on disk.
    /// - Parameters:
    ///   - path: the file.
    ///   - mark: the mark from before the synchronisation.
    /// - Throws: `SystemError`
    package func didSynchronize(file path: String, before mark: UInt64) throws {
        try note(.fileSynced(path, before: mark))
    }

    /// The names in a folder are on disk.
    /// - Parameters:
    ///   - folder: the folder.
    ///   - mark: the mark from before the synchronisation.
    /// - Throws: `SystemError`
    package func didSynchronize(folder: String, before mark: UInt64) throws {
        try note(.folderSynced(folder, before: mark))
    }

    /// A file was removed for good.
    /// - Throws: `SystemError`
    package func didRemove(_ path: String) throws { try note(.gone(path)) }

    private func note(_ change: UnsyncedChanges.Change) throws {
        try notes.withLock { notes in
            let event = UnsyncedChanges.Event.changed(number: notes.next, change)
            notes.next += 1
            try note(event, &notes)
        }
    }

    private func note(_ event: UnsyncedChanges.Event) throws {
        try notes.withLock { try note(event, &$0) }
    }

    private func note(_ event: UnsyncedChanges.Event, _ notes: inout Notes) throws {
        notes.changes.apply(event)
        try file.withLock { file in
            if notes.changes.all.isEmpty {
                // Nothing can be lost: the notes begin anew.
                guard notes.length > 0 else { return }
                try retryingInterrupts("empty", path) { ftruncate(file.number, 0) }
                notes.length = 0
                return
            }
            if notes.length > Self.longest {
                file = try rewrite(notes.changes)
                notes.length = 0
            } else {
                let line = try Self.line(event)
                try file.write(line)
                notes.length += line.count
            }
        }
    }

    private func rewrite(_ changes: UnsyncedChanges) throws -> FileDescriptor {
        let next = try FileDescriptor(path: path + ".next", flags: O_WRONLY | O_APPEND | O_CREAT | O_TRUNC)
        for one in changes.all { try next.write(try Self.line(.changed(number: one.number, one.change))) }
        try retryingInterrupts("rename", path) { rename(path + ".next", path) }
        return next
    }

    private static func line(_ event: UnsyncedChanges.Event) throws -> [UInt8] {
        Array(try JSONEncoder().encode(event)) + [10]
    }
}
