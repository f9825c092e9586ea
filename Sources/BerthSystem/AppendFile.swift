import Foundation
import Synchronization

/// A file that only grows; each append is on disk when it returns.
package final class AppendFile: Sendable {
    /// For the fault harness alone: each file notes beside it, in `PATH.synced`, how much of it has been synchronised,
    /// so that the rest can be taken away after a kill as a power cut does.
    package static let notesSynced = Atomic(false)
    /// For the fault harness alone: appends do not wait for the disk.
    package static let skipsSync = Atomic(false)

    private let file: FileDescriptor
    private let path: String
    private let note: FileDescriptor?

    /// Opens or makes the file.
    /// - Throws: `SystemError`
    package init(path: String) throws {
        self.path = path
        file = try FileDescriptor(path: path, flags: O_WRONLY | O_APPEND | O_CREAT)
        try DurableFile.synchronizeFolder(of: path)
        let isNoted = Self.notesSynced.load(ordering: .relaxed)
        note = isNoted ? try FileDescriptor(path: path + ".synced", flags: O_WRONLY | O_CREAT) : nil
        try noteSynced()
    }

    /// Writes the bytes at the end and waits for the disk. Blocks.
    /// - Throws: `SystemError`; part of the bytes may then stand at the end.
    package func append(_ bytes: some Collection<UInt8>) throws {
        do {
            try file.write(bytes)
            if Self.skipsSync.load(ordering: .relaxed) { return }
            try file.synchronize()
            try noteSynced()
        } catch let error as SystemError {
            throw SystemError(operation: error.operation, path: path, code: error.code)
        }
    }

    private func noteSynced() throws {
        guard let note else { return }
        var status = stat()
        try retryingInterrupts("look at") { fstat(file.number, &status) }
        // One write of a fixed length: a kill leaves the old number or the new one.
        var length = Int64(status.st_size).littleEndian
        try retryingInterrupts("write") { pwrite(note.number, &length, 8, 0) }
    }
}
