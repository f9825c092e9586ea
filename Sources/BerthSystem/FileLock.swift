import CBerthSystem
import Foundation

/// A lock could not be taken.
package enum FileLockError: Error, Equatable, CustomStringConvertible {
    /// Somebody else holds it; `by` is what the holder wrote into the file.
    case held(path: String, by: String)

    package var description: String {
        switch self {
        case .held(let path, let holder): "\(path) is held by \(holder.isEmpty ? "an unnamed process" : holder)"
        }
    }
}

/// An exclusive kernel lock on a file, which names its holder. It ends with the last process that holds the
/// descriptor, so children that inherited it keep it after a dead parent.
package final class FileLock: Sendable {
    private let file: FileDescriptor
    /// The file that carries the lock.
    package let path: String

    private init(file: FileDescriptor, path: String) {
        self.file = file
        self.path = path
    }

    /// The descriptor that holds the lock, for children that shall hold it too.
    package var descriptor: Int32 { file.number }

    /// Takes the lock at once or says who has it.
    /// - Parameters:
    ///   - path: the file that carries the lock; made if absent.
    ///   - holder: a line about the holder, kept in the file.
    /// - Returns: the lock, held for as long as it lives.
    /// - Throws: `FileLockError.held`, `SystemError`
    package static func acquire(path: String, holder: String) throws -> FileLock {
        let file = try FileDescriptor(path: path, flags: O_RDWR | O_CREAT)
        try lock(file, path: path, holder: holder)
        return FileLock(file: file, path: path)
    }

    private static func lock(_ file: FileDescriptor, path: String, holder: String) throws {
        let code = berth_lock(file.number)
        if code == EWOULDBLOCK {
            let text = try String(decoding: file.read(upTo: 4096, at: 0), as: UTF8.self)
            throw FileLockError.held(path: path, by: text.trimmingCharacters(in: .whitespacesAndNewlines))
        }
        guard code == 0 else { throw SystemError(operation: "lock", path: path, code: code) }
        try retryingInterrupts("truncate", path) { ftruncate(file.number, 0) }
        // A lock that is taken again has been written through this descriptor before.
        guard lseek(file.number, 0, SEEK_SET) == 0 else { throw SystemError(operation: "rewind", path: path) }
        do {
            try file.write(Array("\(holder)\n".utf8))
        } catch let error as SystemError where error.isDiskFull {
            // The lock is held all the same; only its holder stays unnamed.
        }
    }

    /// Takes the lock on the same descriptor again after `release`, at once, or says who has it.
    /// - Parameter holder: a line about the holder, kept in the file.
    /// - Throws: `FileLockError.held`, `SystemError`
    package func acquireAgain(holder: String) throws {
        try Self.lock(file, path: path, holder: holder)
    }

    /// Gives the lock up before this object goes, even if children hold the descriptor.
    package func release() {
        flock(file.number, LOCK_UN)
    }
}
