import Foundation

/// Files whose content survives a crash as a whole or not at all.
package enum DurableFile {
    /// Replaces a file in one step: temporary name, fsync, rename, fsync of the folder.
    /// - Throws: `SystemError`; the old content then still stands.
    package static func replace(_ path: String, with bytes: some Collection<UInt8>, mode: Int32 = 0o600) throws {
        let temporary = "\(path).\(Hex.encode(RandomBytes.make(6))).partial"
        do {
            let file = try FileDescriptor(path: temporary, flags: O_WRONLY | O_CREAT | O_EXCL, mode: mode)
            try LossyDisk.current?.willAppend(temporary, to: file)
            try file.write(bytes)
            try LossyDisk.synchronizing(file: temporary) { try file.synchronize() }
            try rename(temporary, to: path)
        } catch let error as SystemError {
            unlink(temporary)
            try LossyDisk.current?.didRemove(temporary)
            throw SystemError(operation: error.operation, path: path, code: error.code)
        }
    }

    /// Renames a file and makes the new name durable.
    /// - Throws: `SystemError`
    package static func rename(_ from: String, to path: String) throws {
        try LossyDisk.current?.willRename(from, to: path)
        try retryingInterrupts("rename", from) { Foundation.rename(from, path) }
        try synchronizeFolder(of: path)
    }

    /// Makes the directory entry of a path durable.
    /// - Throws: `SystemError`
    package static func synchronizeFolder(of path: String) throws {
        let folder = folder(of: path)
        let descriptor = try FileDescriptor(path: folder.isEmpty ? "." : folder, flags: O_RDONLY | O_DIRECTORY)
        try LossyDisk.synchronizing(folder: folder) { try descriptor.synchronize() }
    }

    /// The folder that a path names something in; empty where the path has none.
    static func folder(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "" }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// The whole content of a file.
    /// - Throws: `SystemError`, with EFBIG when it is longer than `limit` bytes.
    package static func read(_ path: String, limit: Int) throws -> [UInt8] {
        let file = try FileDescriptor(path: path, flags: O_RDONLY)
        var status = stat()
        try retryingInterrupts("look at", path) { fstat(file.number, &status) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw SystemError(operation: "read", path: path, code: EINVAL) }
        guard Int(status.st_size) <= limit else { throw SystemError(operation: "read", path: path, code: EFBIG) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Int(status.st_size))
        while true {
            // One more than there should be, so that a file of one piece takes two reads.
            let part = try file.read(upTo: min(max(Int(status.st_size) - bytes.count, 0) + 1, FileDescriptor.pieceSize))
            if part.isEmpty { return bytes }
            bytes += part
            guard bytes.count <= limit else { throw SystemError(operation: "read", path: path, code: EFBIG) }
        }
    }

    /// Makes a folder and its parents, readable by their owner alone. Without `lasting` a crash may take them, and what
    /// is in them, away again.
    /// - Parameters:
    ///   - path: the folder.
    ///   - lasting: whether to wait until what was made is on disk.
    /// - Throws: `SystemError`
    package static func makeFolder(_ path: String, lasting: Bool = false) throws {
        if mkdir(path, 0o700) == 0 {
            try LossyDisk.current?.didMake(path)
            if lasting { try synchronizeFolder(of: path) }
            return
        }
        let code = errno
        if code == EEXIST {
            var isFolder: ObjCBool = false
            if FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue { return }
            throw SystemError(operation: "make the folder", path: path, code: ENOTDIR)
        }
        let parent = folder(of: path)
        guard code == ENOENT, !parent.isEmpty, parent != path else {
            throw SystemError(operation: "make the folder", path: path, code: code)
        }
        try makeFolder(parent, lasting: lasting)
        try makeFolder(path, lasting: lasting)
    }
}
