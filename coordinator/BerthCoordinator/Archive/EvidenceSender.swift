import BerthCore

/// One slot's agent on one channel, as a sender of evidence. What is held of it goes with it.
final class EvidenceSender: Sendable {
    private let number: UInt64
    private let held: HeldEvidence

    init(number: UInt64, held: HeldEvidence) {
        self.number = number
        self.held = held
    }

    deinit { held.dropAll(of: number) }

    /// Holds a chunk.
    /// - Returns: what is to be written to the disk instead.
    /// - Throws: `ArchiveError.gap`
    func hold(_ chunk: Chunk) throws -> HeldEvidence.Taken { try held.take(chunk, from: number) }

    /// What is held of these blobs.
    func blobs(_ wanted: Set<Digest>) -> [Digest: [UInt8]] { held.blobs(wanted, of: number) }

    /// Lets blobs go.
    func drop(_ blobs: some Sequence<Digest>) { held.drop(blobs, of: number) }

    /// Lets all go.
    func dropAll() { held.dropAll(of: number) }
}
