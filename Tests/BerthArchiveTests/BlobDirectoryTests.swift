import BerthArchive
import BerthCore
import BerthSystem
import Foundation
import Testing

struct BlobDirectoryTests {
    @Test func aTransferThatWasCutGoesOnWhereItStopped() throws {
        try withTemporaryFolder { folder in
            let directory = try BlobDirectory(path: folder)
            let bytes = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
            let blob = BlobReference(digest: .sha256(of: bytes), size: Int64(bytes.count))
            let first = try directory.begin(blob)
            try first.write(offset: 0, bytes: Array(bytes[..<70_000]))
            #expect(directory.partialSize(of: blob.digest) == 70_000)
            let second = try directory.begin(blob)
            #expect(second.received == 70_000)
            // What was sent twice is skipped, a gap is refused.
            try second.write(offset: 60_000, bytes: Array(bytes[60_000..<120_000]))
            #expect(throws: ArchiveError.self) { try second.write(offset: 130_000, bytes: [1]) }
            try second.write(offset: 120_000, bytes: Array(bytes[120_000...]))
            #expect(second.isWhole)
            try second.commit()
            #expect(try directory.read(blob.digest, limit: 1 << 20) == bytes)
        }
    }

    @Test func damageIsNoticedOnArrivalAndAtRest() throws {
        try withTemporaryFolder { folder in
            let directory = try BlobDirectory(path: folder)
            let right = Array("right".utf8)
            let blob = BlobReference(digest: .sha256(of: right), size: 5)
            let transfer = try directory.begin(blob)
            try transfer.write(offset: 0, bytes: Array("wrong".utf8))
            #expect(throws: ArchiveError.self) { try transfer.commit() }
            #expect(!directory.contains(blob.digest))
            #expect(directory.partialSize(of: blob.digest) == 0, "wrong bytes must not be continued")
            try directory.insert(right)
            try Data("rigid".utf8).write(to: URL(fileURLWithPath: directory.path(of: blob.digest)))
            #expect(throws: ArchiveError.self) { try directory.read(blob.digest, limit: 100) }
        }
    }

    @Test func aPowerCutTakesAPartialTransferAndNoWholeBlob() async throws {
        let folder = NSTemporaryDirectory() + "berth-test-" + Hex.encode(RandomBytes.make(8))
        try DurableFile.makeFolder(folder)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        await #expect(processExitsWith: .signal(SIGKILL)) { [folder = folder as String] in
            try LossyDisk.begin(notes: folder + "/notes")
            let directory = try BlobDirectory(path: folder + "/archive")
            for text in ["whole", "partial"] {
                let bytes = Array(text.utf8)
                let transfer = try directory.begin(BlobReference(digest: .sha256(of: bytes), size: Int64(bytes.count)))
                try transfer.write(offset: 0, bytes: Array(bytes.prefix(5)))
                if transfer.isWhole { try transfer.commit() }
            }
            kill(getpid(), SIGKILL)
        }
        let (whole, partial) = (Digest.sha256(of: Array("whole".utf8)), Digest.sha256(of: Array("partial".utf8)))
        let directory = try BlobDirectory(path: folder + "/archive")
        #expect(directory.partialSize(of: partial) == 5, "the death of a process alone takes nothing")
        try LossyDisk.takeBack(notes: folder + "/notes")
        #expect(directory.partialSize(of: partial) == 0)
        #expect(try directory.read(whole, limit: 100) == Array("whole".utf8))
    }
}

/// A folder of one test, gone afterwards.
func withTemporaryFolder(_ body: (String) throws -> Void) throws {
    let path = NSTemporaryDirectory() + "berth-test-" + Hex.encode(RandomBytes.make(8))
    try DurableFile.makeFolder(path)
    defer { try? FileManager.default.removeItem(atPath: path) }
    try body(path)
}
