import BerthCore
import BerthSystem
import Foundation

/// A content-addressed folder: `blobs/<two digits>/<hex>` holds whole, checked blobs, `partial/<hex>` what a transfer
/// has brought so far. Several processes may use one at the same time.
package struct BlobDirectory: Sendable {
    /// The folder itself.
    package let root: String

    /// Opens or makes the folder.
    /// - Throws: `SystemError`
    package init(path: String) throws {
        root = path
        try DurableFile.makeFolder("\(path)/blobs", lasting: true)
        try DurableFile.makeFolder("\(path)/partial", lasting: true)
    }

    /// Where a blob lies if it is there.
    package func path(of digest: Digest) -> String {
        "\(root)/blobs/\(digest.hex.prefix(2))/\(digest.hex)"
    }

    /// Whether the blob is there as a whole.
    package func contains(_ digest: Digest) -> Bool {
        access(path(of: digest), F_OK) == 0
    }

    /// Length of a blob in bytes, or nil if it is not there.
    package func size(of digest: Digest) -> Int64? {
        var status = stat()
        return stat(path(of: digest), &status) == 0 ? Int64(status.st_size) : nil
    }

    /// Stores bytes under their digest; a blob that is there already stays as it is.
    /// - Throws: `SystemError`
    @discardableResult
    package func insert(_ bytes: some Collection<UInt8>) throws -> Digest {
        let digest = Digest.sha256(of: bytes)
        if !contains(digest) {
            try makeFolder(of: digest)
            try DurableFile.replace(path(of: digest), with: bytes)
        }
        return digest
    }

    /// Makes the folder that a blob lies in, if it is not there.
    /// - Throws: `SystemError`
    func makeFolder(of digest: Digest) throws {
        let folder = "\(root)/blobs/\(digest.hex.prefix(2))"
        if access(folder, F_OK) != 0 { try DurableFile.makeFolder(folder, lasting: true) }
    }

    /// The bytes of a blob, checked against its name.
    /// - Throws: `ArchiveError.missingBlob`, `ArchiveError.damagedBlob`, `SystemError` (EFBIG over `limit`)
    package func read(_ digest: Digest, limit: Int) throws -> [UInt8] {
        let path = path(of: digest)
        guard contains(digest) else { throw ArchiveError.missingBlob(digest) }
        let bytes = try DurableFile.read(path, limit: limit)
        let actual = Digest.sha256(of: bytes)
        guard actual == digest else {
            throw ArchiveError.damagedBlob(expected: digest, actual: actual, path: path)
        }
        return bytes
    }

    /// Reads all of a blob, piece by piece, and compares it with its name and length.
    /// - Throws: `ArchiveError.missingBlob`, `.wrongSize`, `.damagedBlob`, `SystemError`
    package func check(_ blob: BlobReference) throws {
        guard let size = size(of: blob.digest) else { throw ArchiveError.missingBlob(blob.digest) }
        guard size == blob.size else { throw ArchiveError.wrongSize(blob.digest, expected: blob.size, actual: size) }
        let path = path(of: blob.digest)
        let file = try FileDescriptor(path: path, flags: O_RDONLY)
        var hasher = SHA256.Hasher()
        while true {
            let bytes = try file.read(upTo: 1 << 20)
            if bytes.isEmpty { break }
            hasher.update(bytes)
        }
        let actual = Digest(bytes: hasher.finish())
        guard actual == blob.digest else {
            throw ArchiveError.damagedBlob(expected: blob.digest, actual: actual, path: path)
        }
    }

    /// Part of a blob as it lies there, for transfers that the receiver checks.
    /// - Throws: `ArchiveError.missingBlob`, `SystemError`
    package func read(_ digest: Digest, offset: UInt64, count: Int) throws -> [UInt8] {
        guard contains(digest) else { throw ArchiveError.missingBlob(digest) }
        return try FileDescriptor(path: path(of: digest), flags: O_RDONLY).read(upTo: count, at: offset)
    }

    /// Continues or begins the transfer of a blob.
    /// - Throws: `SystemError`
    package func begin(_ blob: BlobReference) throws -> PartialBlob {
        try PartialBlob(blob: blob, directory: self)
    }

    /// How many bytes of a blob an earlier transfer left.
    package func partialSize(of digest: Digest) -> UInt64 {
        var status = stat()
        return stat("\(root)/partial/\(digest.hex)", &status) == 0 ? UInt64(status.st_size) : 0
    }
}
