import BerthCore
import BerthSystem
import Foundation

/// The evidence in an archive's folder: `evidence/<two digits>/<hex>` is the pack of an attempt, by the digest of its
/// evidence manifest; what is in no pack lies among the blobs. Several processes may use one at the same time.
package struct EvidenceDirectory: Sendable {
    /// Where the bytes of a file of evidence lie.
    package struct Location: Sendable, Hashable {
        package let path: String
        /// In bytes from the file's start.
        package let offset: UInt64
        /// In bytes.
        package let size: Int64
    }

    private let blobs: BlobDirectory
    private let lasting = LastingFolders()

    /// The evidence beside these blobs.
    package init(beside blobs: BlobDirectory) {
        self.blobs = blobs
    }

    /// Where an attempt's pack lies if there is one.
    package func path(of manifest: Digest) -> String {
        "\(folder(of: manifest))/\(manifest.hex)"
    }

    private var root: String { "\(blobs.root)/evidence" }

    private func folder(of manifest: Digest) -> String { "\(root)/\(manifest.hex.prefix(2))" }

    /// Where a file of an attempt's evidence lies; nil if it is not there.
    /// - Throws: `ArchiveError.damagedPack` when the pack cannot be read and the blobs do not have it, `SystemError`
    package func location(of file: Digest, in manifest: Digest) throws -> Location? {
        let path = path(of: manifest)
        let among = blobs.size(of: file).map { Location(path: blobs.path(of: file), offset: 0, size: $0) }
        do {
            guard let place = try EvidencePackFile(path: path)?.places[file] else { return among }
            return Location(path: path, offset: place.offset, size: place.size)
        } catch let error as ArchiveError {
            guard let among else { throw error }
            return among
        }
    }

    /// The bytes of a file of an attempt's evidence, checked against its digest.
    /// - Throws: `ArchiveError.missingBlob`, `.damagedBlob`, `.damagedPack`, `SystemError` (EFBIG over `limit`)
    package func read(_ file: Digest, of manifest: Digest, limit: Int) throws -> [UInt8] {
        do {
            if let bytes = try EvidencePackFile(path: path(of: manifest))?.read(file, limit: limit) { return bytes }
        } catch let error as ArchiveError {
            // What a damaged pack has no more may have come anew, among the blobs.
            guard blobs.contains(file) else { throw error }
        }
        return try blobs.read(file, limit: limit)
    }

    /// Which of these blobs an attempt's pack has, after reading them; nil if there is no pack that can be read.
    /// - Throws: `SystemError`
    package func intact(_ wanted: Set<Digest>, in manifest: Digest) throws -> Set<Digest>? {
        do {
            guard let pack = try EvidencePackFile(path: path(of: manifest)) else { return nil }
            return try wanted.filter { digest in
                do { return try pack.read(digest, limit: .max) != nil } catch is ArchiveError { return false }
            }
        } catch is ArchiveError {
            return nil
        }
    }

    /// Stores blobs of an attempt's evidence, compared with their digests before, as its pack. A pack that is there stays
    /// as it is, whoever made it: what it lacks goes among the blobs.
    /// - Throws: `SystemError`, `EncodingError`; then the same may be tried again.
    package func store(_ pack: EvidencePack, as manifest: Digest) throws {
        guard !pack.blobs.isEmpty else { return }
        if let present = try intact(Set(pack.blobs.keys), in: manifest) {
            for (digest, bytes) in pack.blobs where !present.contains(digest) { try blobs.insert(bytes) }
            return
        }
        for folder in [root, folder(of: manifest)] { try lasting.make(folder) }
        do {
            try DurableFile.replace(path(of: manifest), with: try pack.bytes)
        } catch let error as SystemError where error.code == ENOENT {
            // Somebody has removed the folder: it is made again when this is tried again.
            lasting.forget()
            throw error
        }
    }
}
