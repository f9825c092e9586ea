import CBerthSystem
import Foundation
import Synchronization

/// A file that only grows; an append is on disk when it returns, unless it is left to the next one.
package final class AppendFile: Sendable {
    /// For the fault harness alone: appends do not wait for the disk.
    package static let skipsSync = Atomic(false)

    private struct End {
        /// What has been appended as a whole, in bytes.
        var length: Int
        /// Something that was not appended as a whole may stand after it.
        var isTorn = false
    }

    private let file: FileDescriptor
    private let path: String
    private let end: Mutex<End>

    /// Opens or makes the file.
    /// - Throws: `SystemError`
    package init(path: String) throws {
        self.path = path
        let isNew = access(path, F_OK) != 0
        let file = try FileDescriptor(path: path, flags: O_WRONLY | O_APPEND | O_CREAT)
        self.file = file
        if isNew { try LossyDisk.current?.didMake(path) }
        try DurableFile.synchronizeFolder(of: path)
        var status = stat()
        try retryingInterrupts("look at", path) { fstat(file.number, &status) }
        end = Mutex(End(length: Int(status.st_size)))
    }

    /// Writes the bytes at the end and waits for the disk. When that fails the file is cut back to where it ended; if
    /// that fails too, nothing is appended before it has succeeded. Blocks.
    /// - Parameters:
    ///   - bytes: go to the end.
    ///   - waits: false for what a crash of the process leaves standing, and a power cut may take.
    /// - Throws: `SystemError`; the bytes then do not count.
    package func append(_ bytes: some Collection<UInt8>, waits: Bool = true) throws {
        try named {
            try end.withLock { end in
                try mend(&end)
                try LossyDisk.current?.willAppend(path, to: file)
                end.isTorn = true
                do {
                    try file.write(bytes)
                    if waits, !Self.skipsSync.load(ordering: .relaxed) {
                        try LossyDisk.synchronizing(file: path) { try file.synchronize() }
                    }
                } catch {
                    // The next append tries again, and fails if this still does.
                    try? mend(&end)
                    throw error
                }
                end = End(length: end.length + bytes.count)
            }
        }
    }

    /// Length of what has been appended as a whole, in bytes.
    package var length: Int { end.withLock { $0.length } }

    /// Drops what stands after a place; a crash may bring it back until the next append. Blocks.
    /// - Throws: `SystemError`; nothing is dropped then
    package func cut(to length: Int) throws {
        try named {
            try end.withLock { end in
                try mend(&end)
                guard length < end.length else { return }
                try LossyDisk.current?.willCut(path, to: length)
                try retryingInterrupts("cut") { ftruncate(file.number, off_t(length)) }
                end = End(length: length)
            }
        }
    }

    /// Takes room for bytes that are appended later, where the file system can. Blocks.
    /// - Throws: `SystemError` when there is no room.
    package func reserve(_ count: Int) throws {
        try named {
            try end.withLock { end in
                try mend(&end)
                let code = berth_reserve(file.number, count)
                guard code == 0 else { throw SystemError(operation: "take room", code: code) }
            }
        }
    }

    /// Cuts off what a failed append has left.
    private func mend(_ end: inout End) throws {
        guard end.isTorn else { return }
        try retryingInterrupts("cut") { ftruncate(file.number, off_t(end.length)) }
        try LossyDisk.synchronizing(file: path) { try file.synchronize() }
        end.isTorn = false
    }

    private func named(_ body: () throws -> Void) throws {
        do {
            try body()
        } catch let error as SystemError {
            throw SystemError(operation: error.operation, path: path, code: error.code)
        }
    }
}
