import BerthCore
import BerthSystem
import Foundation

/// Reads an app bundle from disk into a manifest.
package enum BundleArchiver {
    /// A bundle's manifest and where the bytes of each blob lie.
    package struct Result: Sendable {
        package let manifest: BuildManifest
        /// Absolute paths.
        package let files: [Digest: String]
    }

    /// Walks the bundle. Symbolic links are kept as links and must stay inside it.
    /// - Throws: `ArchiveError`, `SystemError`
    package static func manifest(of path: String) throws -> Result {
        let root = path.hasSuffix("/") && path.count > 1 ? String(path.dropLast()) : path
        var status = stat()
        guard lstat(root, &status) == 0 else {
            throw ArchiveError.notABundle(path: path, problem: String(cString: strerror(errno)))
        }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            throw ArchiveError.notABundle(path: path, problem: "it is no folder")
        }
        let name = URL(fileURLWithPath: root).lastPathComponent
        guard name.hasSuffix(".app") else {
            throw ArchiveError.notABundle(path: path, problem: "its name does not end with .app")
        }
        guard access("\(root)/Info.plist", R_OK) == 0 else {
            throw ArchiveError.notABundle(path: path, problem: "it has no Info.plist at its top")
        }
        var entries: [BuildManifest.Entry] = []
        var files: [Digest: String] = [:]
        try walk(root, relative: "", &entries, &files)
        return Result(manifest: BuildManifest(name: name, entries: entries), files: files)
    }

    private static func walk(
        _ root: String,
        relative: String,
        _ entries: inout [BuildManifest.Entry],
        _ files: inout [Digest: String]
    ) throws {
        let folder = relative.isEmpty ? root : "\(root)/\(relative)"
        for name in try FileManager.default.contentsOfDirectory(atPath: folder).sorted() {
            let path = relative.isEmpty ? name : "\(relative)/\(name)"
            let full = "\(root)/\(path)"
            var status = stat()
            try retryingInterrupts("look at", full) { lstat(full, &status) }
            switch status.st_mode & S_IFMT {
            case S_IFDIR:
                entries.append(.folder(path))
                try walk(root, relative: path, &entries, &files)
            case S_IFREG:
                let digest = try digest(of: full)
                let executable = status.st_mode & S_IXUSR != 0
                entries.append(.file(path, size: Int64(status.st_size), executable: executable, digest: digest))
                files[digest] = full
            case S_IFLNK:
                let target = try FileManager.default.destinationOfSymbolicLink(atPath: full)
                guard BuildManifest.staysInside(path, target) else {
                    throw ArchiveError.unsupportedEntry(
                        path: full,
                        problem: "the link leads out of the bundle to \(target)"
                    )
                }
                entries.append(.link(path, target: target))
            default:
                throw ArchiveError.unsupportedEntry(path: full, problem: "it is neither file, folder nor symbolic link")
            }
        }
    }

    private static func digest(of path: String) throws -> Digest {
        let file = try FileDescriptor(path: path, flags: O_RDONLY)
        var hasher = SHA256.Hasher()
        while true {
            let part = try file.read(upTo: 1 << 20)
            if part.isEmpty { return Digest(bytes: hasher.finish()) }
            hasher.update(part)
        }
    }
}
