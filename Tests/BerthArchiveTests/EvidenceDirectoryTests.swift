import BerthArchive
import BerthCore
import BerthSystem
import BerthTestSupport
import Foundation
import Testing

/// An attempt's evidence as one file.
struct EvidenceDirectoryTests {
    private let folder: TemporaryDirectory
    private let blobs: BlobDirectory
    private let evidence: EvidenceDirectory
    private let manifest = Array("manifest".utf8)
    private var name: Digest { .sha256(of: manifest) }

    init() throws {
        folder = try TemporaryDirectory()
        blobs = try BlobDirectory(path: folder.path)
        evidence = EvidenceDirectory(beside: blobs)
    }

    private func pack(_ contents: [UInt8]...) -> EvidencePack {
        EvidencePack(blobs: Dictionary(uniqueKeysWithValues: contents.map { (.sha256(of: $0), $0) }))
    }

    private func read(_ bytes: [UInt8]) throws -> [UInt8] {
        try evidence.read(.sha256(of: bytes), of: name, limit: 1 << 20)
    }

    @Test func whatIsPackedIsReadAtItsPlaceAndOthersAmongTheBlobs() throws {
        let (long, empty, beside) = ([UInt8](repeating: 7, count: 200_000), [UInt8](), Array("beside".utf8))
        try evidence.store(pack(manifest, long, empty), as: name)
        try blobs.insert(beside)
        for bytes in [manifest, long, empty, beside] { #expect(try read(bytes) == bytes) }
        let place = try #require(try evidence.location(of: .sha256(of: long), in: name))
        let file = try FileDescriptor(path: place.path, flags: O_RDONLY)
        #expect(try file.read(upTo: Int(place.size), at: place.offset) == long)
        #expect(try evidence.location(of: .sha256(of: beside), in: name)?.path == blobs.path(of: .sha256(of: beside)))
        #expect(throws: ArchiveError.missingBlob(.sha256(of: [1]))) { try read([1]) }
        #expect(try evidence.location(of: .sha256(of: [1]), in: name) == nil)
        #expect(throws: SystemError.self) { try evidence.read(.sha256(of: long), of: name, limit: 1000) }
    }

    @Test("A pack that is there stays as it is, and what it lacks goes beside it")
    func second() throws {
        let late = Array("late".utf8)
        try evidence.store(pack(manifest), as: name)
        let before = try DurableFile.read(evidence.path(of: name), limit: 1 << 20)
        try evidence.store(pack(manifest, late), as: name)
        #expect(try DurableFile.read(evidence.path(of: name), limit: 1 << 20) == before)
        #expect(try read(manifest) == manifest && read(late) == late)
    }

    @Test func aFolderThatWasRemovedIsMadeAgain() throws {
        try evidence.store(pack(manifest), as: name)
        try FileManager.default.removeItem(atPath: folder.path + "/evidence")
        #expect(throws: SystemError.self) { try evidence.store(pack(manifest), as: name) }
        try evidence.store(pack(manifest), as: name)
        #expect(try read(manifest) == manifest)
    }

    @Test("Rotten bytes are named, and come anew beside the pack; a pack that says nothing any more is written again")
    func rot() throws {
        let file = Array("a file of evidence".utf8)
        try evidence.store(pack(manifest, file), as: name)
        let path = evidence.path(of: name)
        let whole = try DurableFile.read(path, limit: 1 << 20)
        let start = try #require(try evidence.location(of: .sha256(of: file), in: name)).offset
        var rotten = whole
        rotten[Int(start)] ^= 1
        try DurableFile.replace(path, with: rotten)
        #expect(try read(manifest) == manifest)
        #expect(throws: ArchiveError.self) { try read(file) }
        try evidence.store(pack(file), as: name)
        #expect(try read(file) == file)
        unlink(blobs.path(of: .sha256(of: file)))

        for damaged in [Array(whole.dropLast(40)), Array("no pack".utf8), []] {
            try DurableFile.replace(path, with: damaged)
            #expect { try read(file) } throws: { ($0 as? ArchiveError)?.code == "damaged-pack" }
            #expect { try evidence.location(of: .sha256(of: file), in: name) } throws: {
                ($0 as? ArchiveError)?.code == "damaged-pack"
            }
            try evidence.store(pack(manifest, file), as: name)
            #expect(try DurableFile.read(path, limit: 1 << 20) == whole)
        }
    }

    @Test func aHostileFirstLineIsRefused() throws {
        try evidence.store(pack(manifest), as: name)
        let digest = "\(Digest.sha256(of: [1]))"
        for head in [
            #"{"format":2,"blobs":[]}"#, #"{"format":1,"blobs":[{"digest":"\#(digest)","size":-1}]}"#,
            #"{"format":1,"blobs":[{"digest":"\#(digest)","size":9223372036854775807}]}"#,
            #"{"format":1,"blobs":[{"digest":"\#(digest)","size":3},{"digest":"\#(digest)","size":9223372036854775806}]}"#,
        ] {
            try DurableFile.replace(evidence.path(of: name), with: Array("\(head)\nabcdef".utf8))
            #expect { try read([1]) } throws: { ($0 as? ArchiveError)?.code == "damaged-pack" }
        }
    }

    @Test("A pack outlives a power cut, also in a folder that somebody else has just made", arguments: [false, true])
    func powerCut(isMade: Bool) async throws {
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = folder.path as String, isMade] in
            try LossyDisk.begin(notes: path + "/notes")
            if isMade { try DurableFile.makeFolder(path + "/evidence/\(Digest.sha256(of: [1]).hex.prefix(2))") }
            let evidence = EvidenceDirectory(beside: try BlobDirectory(path: path))
            try evidence.store(
                EvidencePack(blobs: [.sha256(of: [1]): [1], .sha256(of: [2]): [2]]),
                as: .sha256(of: [1])
            )
            kill(getpid(), SIGKILL)
        }
        try LossyDisk.takeBack(notes: folder.path + "/notes")
        for bytes: [UInt8] in [[1], [2]] {
            #expect(try evidence.read(.sha256(of: bytes), of: .sha256(of: [1]), limit: 10) == bytes)
        }
    }
}
