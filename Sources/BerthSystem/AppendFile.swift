import Foundation

/// A file that only grows; each append is on disk when it returns.
package final class AppendFile: Sendable {
    private let file: FileDescriptor
    private let path: String

    /// Opens or makes the file.
    /// - Throws: `SystemError`
    package init(path: String) throws {
        self.path = path
        file = try FileDescriptor(path: path, flags: O_WRONLY | O_APPEND | O_CREAT)
        try DurableFile.synchronizeFolder(of: path)
    }

    /// Writes the bytes at the end and waits for the disk. Blocks.
    /// - Throws: `SystemError`; part of the bytes may then stand at the end.
    package func append(_ bytes: some Collection<UInt8>) throws {
        do {
            try file.write(bytes)
            try file.synchronize()
        } catch let error as SystemError {
            throw SystemError(operation: error.operation, path: path, code: error.code)
        }
    }
}
