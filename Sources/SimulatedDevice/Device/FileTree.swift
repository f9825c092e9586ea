import BerthSystem
import CBerthSystem
import Foundation

/// Copies and removes whole folders.
enum FileTree {
    /// Copies a folder with everything in it: files by reference where the file system can, links as links, execute
    /// bits kept, everything writable by its owner. Sockets and pipes are left out.
    ///
    /// - Throws: `SystemError` that names the file.
    static func copy(_ source: String, to target: String) throws {
        try DurableFile.makeFolder(target)
        for name in try FileManager.default.contentsOfDirectory(atPath: source) {
            let from = "\(source)/\(name)"
            let to = "\(target)/\(name)"
            var status = stat()
            try retryingInterrupts("look at", from) { lstat(from, &status) }
            switch status.st_mode & S_IFMT {
            case S_IFDIR: try copy(from, to: to)
            case S_IFLNK:
                let destination = try FileManager.default.destinationOfSymbolicLink(atPath: from)
                try retryingInterrupts("make the link", to) { symlink(destination, to) }
            case S_IFREG: try copyFile(from, to: to, mode: Int32(status.st_mode & 0o777))
            default: continue
            }
        }
    }

    private static func copyFile(_ from: String, to: String, mode: Int32) throws {
        let input = try FileDescriptor(path: from, flags: O_RDONLY)
        let output = try FileDescriptor(path: to, flags: O_WRONLY | O_CREAT | O_EXCL, mode: mode | 0o600)
        let code = berth_copy_content(input.number, output.number)
        guard code == 0 else { throw SystemError(operation: "copy", path: from, code: code) }
    }

    /// Removes a folder with everything in it. What cannot be removed is logged and left.
    static func removeIfPresent(_ path: String) {
        do {
            try FileManager.default.removeItem(atPath: path)
        } catch {
            guard FileManager.default.fileExists(atPath: path) else { return }
            Log(component: "simulator").error("A folder could not be removed", ["path": path, "error": "\(error)"])
        }
    }

    /// Bytes of all files in a folder.
    static func size(_ path: String) -> Int {
        guard let files = FileManager.default.enumerator(atPath: path) else { return 0 }
        var bytes = 0
        while let name = files.nextObject() as? String {
            var status = stat()
            if lstat("\(path)/\(name)", &status) == 0, status.st_mode & S_IFMT == S_IFREG {
                bytes += Int(status.st_size)
            }
        }
        return bytes
    }
}
