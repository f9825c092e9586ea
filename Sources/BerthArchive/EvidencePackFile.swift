import BerthCore
import BerthSystem
import Foundation

/// A pack of evidence as it lies on disk; its first line has been read.
struct EvidencePackFile {
    private static let pieceSize = 64 << 10

    let path: String
    /// Where each blob begins, and how long it is.
    let places: [Digest: (offset: UInt64, size: Int64)]
    private let file: FileDescriptor

    /// Opens a pack; nil if there is none.
    /// - Throws: `ArchiveError.damagedPack`, `SystemError`
    init?(path: String) throws {
        do {
            file = try FileDescriptor(path: path, flags: O_RDONLY)
        } catch let error as SystemError where error.code == ENOENT {
            return nil
        }
        self.path = path
        var status = stat()
        try retryingInterrupts("look at", path) { [file] in fstat(file.number, &status) }
        let head = try Self.head(of: file, path)
        do {
            places = try Self.places(
                try EvidencePack.Head.parse(head, document: path),
                from: head.count + 1,
                status,
                path
            )
        } catch let error as FormatError {
            throw ArchiveError.damagedPack(path: path, problem: "\(error)")
        }
    }

    private static func head(of file: FileDescriptor, _ path: String) throws -> ArraySlice<UInt8> {
        var bytes: [UInt8] = []
        while bytes.count <= EvidencePack.headLimit {
            let part = try file.read(upTo: pieceSize, at: UInt64(bytes.count))
            let seen = bytes.count
            bytes += part
            if let end = bytes[seen...].firstIndex(of: UInt8(ascii: "\n")) { return bytes[..<end] }
            if part.isEmpty { break }
        }
        throw ArchiveError.damagedPack(path: path, problem: "it has no first line")
    }

    private static func places(
        _ head: EvidencePack.Head,
        from start: Int,
        _ status: stat,
        _ path: String
    ) throws -> [Digest: (offset: UInt64, size: Int64)] {
        var places: [Digest: (offset: UInt64, size: Int64)] = [:]
        var offset = Int64(start)
        for blob in head.blobs {
            guard blob.size >= 0, blob.size <= Int64(status.st_size) - offset else {
                throw ArchiveError.damagedPack(path: path, problem: "it ends before \(blob.digest) does")
            }
            places[blob.digest] = (UInt64(offset), blob.size)
            offset += blob.size
        }
        return places
    }

    /// The bytes of a blob, checked against its digest; nil if the pack does not have it.
    /// - Throws: `ArchiveError.damagedBlob`, `SystemError` (EFBIG over `limit`)
    func read(_ digest: Digest, limit: Int) throws -> [UInt8]? {
        guard let place = places[digest] else { return nil }
        guard place.size <= Int64(limit) else { throw SystemError(operation: "read", path: path, code: EFBIG) }
        var bytes: [UInt8] = []
        while bytes.count < place.size {
            let part = try file.read(upTo: Int(place.size) - bytes.count, at: place.offset + UInt64(bytes.count))
            if part.isEmpty { break }
            bytes += part
        }
        let actual = Digest.sha256(of: bytes)
        guard actual == digest else {
            throw ArchiveError.damagedBlob(expected: digest, actual: actual, path: path)
        }
        return bytes
    }
}
