import BerthArchive
import BerthCore
import BerthSystem
import BerthTestSupport
import Testing

@testable import BerthCoordinator

/// Evidence that comes in parts, not all of which could be kept.
@Suite(.timeLimit(.minutes(1)))
struct EvidenceUploadTests {
    private func report(_ evidence: Digest) -> AttemptReport {
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
            files: [],
            preservedDevice: nil
        )
    }

    @Test("What came before a gap stays, and what follows it completes the blob, also across a new channel")
    func gap() async throws {
        let folder = try TemporaryDirectory()
        let archive = try CoordinatorArchive(path: folder.path)
        let parts = (0..<4).map { [UInt8](repeating: UInt8($0), count: 1000 + $0) }
        let whole = parts.flatMap { $0 }
        let digest = Digest.sha256(of: whole)
        func send(_ numbers: [Int]) async throws {
            for number in numbers {
                let offset = UInt64(parts[..<number].reduce(0) { $0 + $1.count })
                try await archive.receive(Chunk(digest: digest, offset: offset, bytes: parts[number]))
            }
        }
        try await send([0, 1])
        // The third was lost on the way, so the fourth has no place.
        await #expect(throws: ArchiveError.self) { try await send([3]) }
        #expect(try await archive.completeEvidence(of: report(digest), gaps: [digest]) == [digest])
        // Its agent begins where it was before, or from the start: neither does harm.
        try await send([1, 2])
        #expect(try await archive.completeEvidence(of: report(digest), gaps: [digest]) == [digest])
        try await send([0, 3])
        #expect(try await archive.completeEvidence(of: report(digest)).isEmpty)
        #expect(try await archive.read(digest, offset: 0, count: 10_000) == whole)
    }

    @Test("A blob that ends too early is dropped when it is not known to have a gap, and comes anew")
    func tooShort() async throws {
        let folder = try TemporaryDirectory()
        let archive = try CoordinatorArchive(path: folder.path)
        let whole = [UInt8](repeating: 7, count: 3000)
        let digest = Digest.sha256(of: whole)
        try await archive.receive(Chunk(digest: digest, offset: 0, bytes: Array(whole[..<1000])))
        #expect(try await archive.completeEvidence(of: report(digest)) == [digest])
        await #expect(throws: ArchiveError.self) {
            try await archive.receive(Chunk(digest: digest, offset: 1000, bytes: Array(whole[1000...])))
        }
        try await archive.receive(Chunk(digest: digest, offset: 0, bytes: whole))
        #expect(try await archive.completeEvidence(of: report(digest)).isEmpty)
    }
}
