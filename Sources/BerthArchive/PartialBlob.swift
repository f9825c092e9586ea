import BerthCore
import BerthSystem
import Foundation

/// A blob on its way into a `BlobDirectory`; what has arrived stays after a cut and is continued.
package final class PartialBlob {
    package let blob: BlobReference
    private let directory: BlobDirectory
    private let path: String
    private let file: FileDescriptor
    /// How many bytes have arrived, from the start without gaps.
    package private(set) var received: UInt64
    /// The digest of what has arrived, while all of it has come through this object.
    private var hasher = SHA256.Hasher()
    private var isHashed: Bool

    init(blob: BlobReference, directory: BlobDirectory) throws {
        self.blob = blob
        self.directory = directory
        let path = "\(directory.root)/partial/\(blob.digest.hex)"
        let isNew = access(path, F_OK) != 0
        let file = try FileDescriptor(path: path, flags: O_RDWR | O_CREAT)
        if isNew { try LossyDisk.current?.didMake(path) }
        self.path = path
        self.file = file
        var status = stat()
        try retryingInterrupts("look at", path) { fstat(file.number, &status) }
        if Int64(status.st_size) > blob.size {
            try LossyDisk.current?.willCut(path, to: 0)
            try retryingInterrupts("truncate", path) { ftruncate(file.number, 0) }
            received = 0
        } else {
            received = UInt64(status.st_size)
        }
        isHashed = received == 0
    }

    /// Whether all bytes have arrived; `commit` then decides whether they are right.
    package var isWhole: Bool { Int64(received) == blob.size }

    /// Takes bytes that follow those received so far; bytes that overlap are skipped.
    /// - Throws: `ArchiveError.wrongSize` when the blob grows over its size or a gap appears, `SystemError`
    package func write(offset: UInt64, bytes: [UInt8]) throws {
        guard offset <= received, Int64(offset) + Int64(bytes.count) <= blob.size else {
            throw ArchiveError.wrongSize(
                blob.digest,
                expected: blob.size,
                // The other side may say any number.
                actual: Int64(clamping: offset &+ min(UInt64(bytes.count), UInt64.max - offset))
            )
        }
        let fresh = bytes.dropFirst(Int(received - offset))
        guard !fresh.isEmpty else { return }
        try retryingInterrupts("seek in", path) { lseek(file.number, off_t(received), SEEK_SET) }
        do {
            try LossyDisk.current?.willWrite(path, length: Int64(received), offset: Int64(received))
            try file.write(fresh)
        } catch let error as SystemError {
            throw SystemError(operation: error.operation, path: path, code: error.code)
        }
        received += UInt64(fresh.count)
        if isHashed { hasher.update(fresh) }
    }

    /// Checks the digest and moves the blob to its place.
    /// - Throws: `ArchiveError.damagedBlob` (the bytes are then dropped), `SystemError`
    package func commit() throws {
        try LossyDisk.synchronizing(file: path) { try file.synchronize() }
        let actual = try isHashed ? Digest(bytes: hasher.finish()) : digestOnDisk()
        // A digest ends once; a second try, after a rename that failed, reads the file.
        isHashed = false
        guard actual == blob.digest else {
            unlink(path)
            try LossyDisk.current?.didRemove(path)
            throw ArchiveError.damagedBlob(expected: blob.digest, actual: actual, path: path)
        }
        let final = directory.path(of: blob.digest)
        try directory.makeFolder(of: blob.digest)
        do {
            try DurableFile.rename(path, to: final)
        } catch let error as SystemError where error.code == ENOENT && directory.contains(blob.digest) {
            // Another process has brought the same blob and was first.
            try DurableFile.synchronizeFolder(of: final)
        }
    }

    private func digestOnDisk() throws -> Digest {
        try retryingInterrupts("seek in", path) { lseek(file.number, 0, SEEK_SET) }
        var hasher = SHA256.Hasher()
        while true {
            let part = try file.read(upTo: 1 << 20)
            if part.isEmpty { break }
            hasher.update(part)
        }
        return Digest(bytes: hasher.finish())
    }
}
