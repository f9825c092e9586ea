import BerthCore
import BerthSystem
import Foundation

/// A bundle that was laid out from an archive before, and may have been changed since.
package struct LaidOutBundle: Sendable {
    package let path: String

    package init(path: String) {
        self.path = path
    }

    /// Whether the folder holds what the manifest says and nothing else: every name, every byte, every link, through no
    /// link of its own. Reads all of it.
    package func isIntact(_ manifest: BuildManifest) -> Bool {
        guard Self.type(of: path) == S_IFDIR,
            let names = try? FileManager.default.subpathsOfDirectory(atPath: path),
            names.count == manifest.entries.count
        else { return false }
        // Folders come before what they hold, so that no path leads through a link.
        return manifest.entries.allSatisfy { entry in
            let place = "\(path)/\(entry.path)"
            switch entry.type {
            case .folder: return Self.type(of: place) == S_IFDIR
            case .link: return Self.target(of: place) == entry.target
            case .file: return (try? Self.isIntact(entry, at: place)) ?? false
            }
        }
    }

    private static func type(of path: String) -> mode_t? {
        var status = stat()
        return lstat(path, &status) == 0 ? status.st_mode & S_IFMT : nil
    }

    private static func target(of path: String) -> String? {
        guard type(of: path) == S_IFLNK else { return nil }
        return try? FileManager.default.destinationOfSymbolicLink(atPath: path)
    }

    private static func isIntact(_ entry: BuildManifest.Entry, at path: String) throws -> Bool {
        let file = try FileDescriptor(path: path, flags: O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
        var status = stat()
        try retryingInterrupts("look at", path) { fstat(file.number, &status) }
        // A file with a second name can be changed under it.
        guard status.st_mode & S_IFMT == S_IFREG, status.st_nlink == 1, Int64(status.st_size) == entry.size,
            (status.st_mode & S_IXUSR != 0) == (entry.executable == true)
        else { return false }
        var hasher = SHA256.Hasher()
        while true {
            let part = try file.read(upTo: min(Int(status.st_size) + 1, 1 << 20))
            if part.isEmpty { break }
            hasher.update(part)
        }
        return Digest(bytes: hasher.finish()) == entry.digest
    }
}
