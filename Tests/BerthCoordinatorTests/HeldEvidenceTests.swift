import BerthArchive
import BerthCore
import Testing

@testable import BerthCoordinator

/// What waits in memory for its report is bounded, and nobody's but its sender's.
struct HeldEvidenceTests {
    private func chunk(_ bytes: [UInt8], of digest: Digest, at offset: UInt64 = 0) -> Chunk {
        Chunk(digest: digest, offset: offset, bytes: bytes)
    }

    @Test func chunksGrowABlobAlsoWhenTheyComeTwice() throws {
        let sender = HeldEvidence().makeSender()
        let digest = Digest.sha256(of: [1, 2, 3, 4])
        #expect(try sender.hold(chunk([1, 2], of: digest)) == .held)
        #expect(throws: ArchiveError.self) { try sender.hold(chunk([4], of: digest, at: 3)) }
        #expect(try sender.hold(chunk([1, 2], of: digest)) == .held)
        #expect(try sender.hold(chunk([2, 3, 4], of: digest, at: 1)) == .held)
        #expect(sender.blobs([digest]) == [digest: [1, 2, 3, 4]])
    }

    @Test func wrongBytesOfOneSenderAreNotAnothers() throws {
        let held = HeldEvidence()
        let (liar, honest) = (held.makeSender(), held.makeSender())
        let digest = Digest.sha256(of: [1, 2, 3, 4])
        #expect(try liar.hold(chunk([9, 9], of: digest)) == .held)
        #expect(try honest.hold(chunk([1, 2, 3, 4], of: digest)) == .held)
        #expect(try liar.hold(chunk([9, 9], of: digest, at: 2)) == .held)
        #expect(honest.blobs([digest]) == [digest: [1, 2, 3, 4]])
    }

    @Test func whatIsTooLongGoesToTheDiskFromItsStart() throws {
        let held = HeldEvidence(limits: .init(blob: 5))
        let sender = held.makeSender()
        let digest = Digest.sha256(of: [1])
        #expect(try sender.hold(chunk([1, 2, 3], of: digest)) == .held)
        let rest = chunk([4, 5, 6], of: digest, at: 3)
        #expect(try sender.hold(rest) == .forDisk(chunk([1, 2, 3, 4, 5, 6], of: digest)))
        let last = chunk([7], of: digest, at: 6)
        #expect(try sender.hold(last) == .forDisk(last))
        #expect(held.cost == 0)
    }

    @Test("Neither bytes nor numbers of blobs grow without end, and what a sender holds goes with it")
    func bounds() throws {
        let held = HeldEvidence(limits: .init(sender: 10_000, all: 15_000))
        func fill(_ sender: EvidenceSender) throws -> Int {
            for number in 0..<1000 {
                let digest = Digest.sha256(of: "\(number)".utf8)
                guard try sender.hold(chunk([], of: digest)) == .held else { return number }
            }
            return 1000
        }
        let second = held.makeSender()
        do {
            let first = held.makeSender()
            let count = try fill(first)
            #expect(count > 0 && count < 1000 && held.cost <= 10_000)
            let more = try fill(second)
            #expect(more > 0 && more < count && held.cost <= 15_000)
            // What finds no room is no reason to drop what others wait for.
            #expect(first.blobs([.sha256(of: "0".utf8)]).count == 1)
        }
        #expect(held.cost > 0 && held.cost < 10_000)
        second.dropAll()
        #expect(held.cost == 0)
    }

    @Test func whoHasLongBeenSilentMakesRoom() throws {
        let held = HeldEvidence(limits: .init(all: 2000, patience: .zero))
        let (silent, heard) = (held.makeSender(), held.makeSender())
        let (one, two) = (Digest.sha256(of: [1]), Digest.sha256(of: [2]))
        #expect(try silent.hold(chunk([UInt8](repeating: 1, count: 1000), of: one)) == .held)
        #expect(try heard.hold(chunk([UInt8](repeating: 2, count: 1000), of: two)) == .held)
        #expect(silent.blobs([one]).isEmpty && heard.blobs([two]).count == 1)
        // A sender is not its own obstacle.
        let long = chunk([UInt8](repeating: 3, count: 1500), of: one)
        #expect(try heard.hold(long) == .forDisk(long))
    }
}
