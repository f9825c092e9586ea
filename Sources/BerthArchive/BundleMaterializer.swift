import BerthCore
import BerthSystem
import Foundation

/// Writes an archived bundle to disk, checking every blob again.
package enum BundleMaterializer {
    /// Makes `<folder>/<manifest name>`, which must not exist yet.
    /// - Returns: the bundle's path.
    /// - Throws: `ArchiveError`, `SystemError`; a half-written bundle may then stand in `folder`.
    @discardableResult
    package static func materialize(
        _ manifest: BuildManifest,
        from blobs: BlobDirectory,
        to folder: String
    ) throws -> String {
        let bundle = "\(folder)/\(manifest.name)"
        try DurableFile.makeFolder(folder)
        try retryingInterrupts("make the folder", bundle) { mkdir(bundle, 0o700) }
        for entry in manifest.entries {
            let path = "\(bundle)/\(entry.path)"
            switch entry.type {
            case .folder:
                try DurableFile.makeFolder(path)
            case .link:
                try retryingInterrupts("link", path) { symlink(entry.target ?? "", path) }
            case .file:
                guard let digest = entry.digest, let size = entry.size else { continue }
                try write(digest, size: size, executable: entry.executable == true, from: blobs, to: path)
            }
        }
        return bundle
    }

    private static func write(
        _ digest: Digest,
        size: Int64,
        executable: Bool,
        from blobs: BlobDirectory,
        to path: String
    ) throws {
        let source = blobs.path(of: digest)
        guard blobs.contains(digest) else { throw ArchiveError.missingBlob(digest) }
        // A link inside the tree must not lead a file of the tree astray: nothing is followed, nothing replaced.
        let target = try FileDescriptor(
            path: path,
            flags: O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW,
            mode: executable ? 0o755 : 0o644
        )
        let file = try FileDescriptor(path: source, flags: O_RDONLY)
        var hasher = SHA256.Hasher()
        var written: Int64 = 0
        while true {
            let part = try file.read(upTo: 1 << 20)
            if part.isEmpty { break }
            hasher.update(part)
            try target.write(part)
            written += Int64(part.count)
        }
        let actual = Digest(bytes: hasher.finish())
        guard actual == digest else {
            throw ArchiveError.damagedBlob(expected: digest, actual: actual, path: source)
        }
        guard written == size else { throw ArchiveError.wrongSize(digest, expected: size, actual: written) }
    }
}
