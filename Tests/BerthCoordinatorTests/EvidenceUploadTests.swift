import BerthArchive
import BerthCore
import BerthSystem
import BerthTestSupport
import Foundation
import Testing

@testable import BerthCoordinator

/// Evidence that comes in parts, not all of which could be kept.
@Suite(.timeLimit(.minutes(1)))
struct EvidenceUploadTests {
    private func report(_ evidence: Digest, files: [[UInt8]] = []) -> AttemptReport {
        AttemptReport(
            run: "r-1",
            attempt: "a-1",
            epoch: 1,
            outcome: .passed,
            cause: nil,
            checks: [],
            steps: [],
            device: DeviceFacts(
                identity: "d",
                platform: .linuxSimulated,
                model: "m",
                os: OSPin(version: "18.0", build: "x")
            ),
            agentVersion: "t",
            tools: [:],
            startedAt: 1,
            endedAt: 2,
            evidence: evidence,
            files: files.enumerated().map { number, bytes in
                EvidenceFile(path: "\(number)", size: Int64(bytes.count), digest: .sha256(of: bytes))
            },
            preservedDevice: nil
        )
    }

    private let folder: TemporaryDirectory
    private let archive: CoordinatorArchive

    init() throws {
        folder = try TemporaryDirectory()
        archive = try CoordinatorArchive(path: folder.path)
    }

    /// What is stored of the evidence under a manifest, as whoever else reads the folder sees it.
    private func read(_ file: Digest, of manifest: Digest) throws -> [UInt8] {
        try EvidenceDirectory(beside: try BlobDirectory(path: folder.path)).read(file, of: manifest, limit: 1 << 20)
    }

    private func files(in name: String) throws -> [String] {
        let path = "\(folder.path)/\(name)"
        guard FileManager.default.fileExists(atPath: path) else { return [] }
        return try FileManager.default.subpathsOfDirectory(atPath: path).filter { $0.contains("/") }
    }

    @Test("Small files become one file of the archive, by the manifest's name, long ones blobs beside it")
    func onePack() async throws {
        let (sender, manifest, long) = (
            archive.makeSender(), Array("manifest".utf8), [UInt8](repeating: 5, count: 700_000)
        )
        let small = (0..<3).map { [UInt8](repeating: UInt8($0), count: 100_000) }
        func send(_ bytes: [UInt8]) async throws {
            for start in stride(from: 0, to: bytes.count, by: Frame.chunkSize) {
                let part = Array(bytes[start..<min(start + Frame.chunkSize, bytes.count)])
                let chunk = Chunk(digest: .sha256(of: bytes), offset: UInt64(start), bytes: part)
                try await archive.receive(chunk, from: sender)
            }
        }
        let report = report(.sha256(of: manifest), files: small + [long, []])
        for bytes in small { try await send(bytes) }
        #expect(
            Set(try await archive.completeEvidence(of: report, from: sender)) == [report.evidence, .sha256(of: long)]
        )
        #expect(try files(in: "evidence").isEmpty && files(in: "blobs").isEmpty)
        for bytes in [long, manifest] { try await send(bytes) }
        for _ in 1...2 { #expect(try await archive.completeEvidence(of: report, from: sender).isEmpty) }
        #expect(try files(in: "evidence") == ["\(report.evidence.hex.prefix(2))/\(report.evidence.hex)"])
        #expect(try files(in: "blobs") == ["\(Digest.sha256(of: long).hex.prefix(2))/\(Digest.sha256(of: long).hex)"])
        for bytes in small + [manifest, long, []] {
            #expect(try read(.sha256(of: bytes), of: report.evidence) == bytes)
        }
    }

    @Test("What came before a gap stays, and what follows it completes the blob, also across a new channel")
    func gap() async throws {
        // So long that it goes by the disk, and short.
        for size in [100_000, 1000] {
            let parts = (0..<4).map { [UInt8](repeating: UInt8($0), count: size + $0) }
            let whole = parts.flatMap { $0 }
            let digest = Digest.sha256(of: whole)
            func send(_ numbers: [Int], _ sender: EvidenceSender) async throws {
                for number in numbers {
                    let offset = UInt64(parts[..<number].reduce(0) { $0 + $1.count })
                    try await archive.receive(Chunk(digest: digest, offset: offset, bytes: parts[number]), from: sender)
                }
            }
            func complete(_ sender: EvidenceSender, gaps: Set<Digest> = [digest]) async throws -> [Digest] {
                try await archive.completeEvidence(of: report(digest), from: sender, gaps: gaps)
            }
            let sender = archive.makeSender()
            try await send([0, 1], sender)
            // The third was lost on the way, so the fourth has no place.
            await #expect(throws: ArchiveError.self) { try await send([3], sender) }
            #expect(try await complete(sender) == [digest])
            // Its agent begins where it was before, or from the start: neither does harm.
            try await send([1, 2], sender)
            #expect(try await complete(sender) == [digest])
            let next = archive.makeSender()
            try await send([0, 1, 2, 3], next)
            #expect(try await complete(next, gaps: []).isEmpty)
            #expect(try read(digest, of: digest) == whole)
        }
    }

    @Test("A blob that ends too early is dropped when it is not known to have a gap, and comes anew")
    func tooShort() async throws {
        let sender = archive.makeSender()
        let whole = [UInt8](repeating: 7, count: 3000)
        let digest = Digest.sha256(of: whole)
        try await archive.receive(Chunk(digest: digest, offset: 0, bytes: Array(whole[..<1000])), from: sender)
        #expect(try await archive.completeEvidence(of: report(digest), from: sender) == [digest])
        await #expect(throws: ArchiveError.self) {
            try await archive.receive(Chunk(digest: digest, offset: 1000, bytes: Array(whole[1000...])), from: sender)
        }
        try await archive.receive(Chunk(digest: digest, offset: 0, bytes: whole), from: sender)
        #expect(try await archive.completeEvidence(of: report(digest), from: sender).isEmpty)
        #expect(try read(digest, of: digest) == whole)
    }

    @Test("What one slot says wrongly, or first, of another's evidence does not keep the right bytes out")
    func poisoned() async throws {
        let (liar, honest) = (archive.makeSender(), archive.makeSender())
        let (manifest, file) = (Array("manifest".utf8), Array("file".utf8))
        let report = report(.sha256(of: manifest), files: [file])
        let name = report.evidence
        func send(_ bytes: [UInt8], as digest: Digest, _ sender: EvidenceSender) async throws {
            try await archive.receive(Chunk(digest: digest, offset: 0, bytes: bytes), from: sender)
        }
        try await send(Array("wrong".utf8), as: .sha256(of: file), liar)
        try await send(manifest, as: name, liar)
        #expect(try await archive.completeEvidence(of: report, from: liar) == [.sha256(of: file)])
        // A report of its own takes the name.
        #expect(try await archive.completeEvidence(of: self.report(name, files: []), from: liar).isEmpty)
        for bytes in [manifest, file] { try await send(bytes, as: .sha256(of: bytes), honest) }
        #expect(try await archive.completeEvidence(of: report, from: honest).isEmpty)
        for bytes in [manifest, file] { #expect(try read(.sha256(of: bytes), of: name) == bytes) }
    }

    @Test("Of evidence that will not become whole what is right is kept")
    func rest() async throws {
        let sender = archive.makeSender()
        let (manifest, wrong) = (Array("manifest".utf8), Digest.sha256(of: [1]))
        let report = report(.sha256(of: manifest), files: [[1], [2]])
        try await archive.receive(Chunk(digest: report.evidence, offset: 0, bytes: manifest), from: sender)
        try await archive.receive(Chunk(digest: wrong, offset: 0, bytes: [9]), from: sender)
        try await archive.keepRest(of: report, from: sender)
        #expect(try read(report.evidence, of: report.evidence) == manifest)
        #expect(throws: ArchiveError.missingBlob(wrong)) { try read(wrong, of: report.evidence) }
        #expect(try await archive.completeEvidence(of: report, from: sender).count == 2)
    }

    @Test("What cannot be written stays in memory, and is written once it can be")
    func failedWrite() async throws {
        let sender = archive.makeSender()
        let bytes = Array("evidence".utf8)
        let digest = Digest.sha256(of: bytes)
        try await archive.receive(Chunk(digest: digest, offset: 0, bytes: bytes), from: sender)
        let obstacle = "\(folder.path)/evidence/\(digest.hex.prefix(2))"
        try DurableFile.makeFolder("\(folder.path)/evidence")
        try DurableFile.replace(obstacle, with: [])
        await #expect(throws: SystemError.self) {
            try await archive.completeEvidence(of: report(digest), from: sender)
        }
        unlink(obstacle)
        #expect(try await archive.completeEvidence(of: report(digest), from: sender).isEmpty)
        #expect(try read(digest, of: digest) == bytes)
    }

    @Test("Two coordinators on one folder may store the same evidence")
    func twoCoordinators() async throws {
        let other = try CoordinatorArchive(path: folder.path)
        let manifest = Array("manifest".utf8)
        let long = [UInt8](repeating: 5, count: 400_000)
        let report = report(.sha256(of: manifest), files: [long])
        try await withThrowingTaskGroup(of: Void.self) { group in
            for archive in [archive, other] {
                group.addTask {
                    let sender = archive.makeSender()
                    for bytes in [manifest, long] {
                        let chunk = Chunk(digest: .sha256(of: bytes), offset: 0, bytes: bytes)
                        try await archive.receive(chunk, from: sender)
                    }
                    #expect(try await archive.completeEvidence(of: report, from: sender).isEmpty)
                }
            }
            try await group.waitForAll()
        }
        for bytes in [manifest, long] { #expect(try read(.sha256(of: bytes), of: report.evidence) == bytes) }
    }
}
