import BerthArchive
import BerthCore
import BerthSystem

/// Stores evidence, one attempt after the other, on an executor of its own. What belongs to one manifest goes through one
/// lane; those of others wait for the disk beside it.
actor EvidenceLane {
    /// What was found of a report's evidence.
    struct Found: Sendable {
        /// The blobs that were held, with the digests that they shall have.
        var pack = EvidencePack(blobs: [:])
        /// The blobs that were held with other bytes.
        var wrong: [Digest] = []
        /// What is neither held nor in the attempt's pack. When nothing is, the pack has been stored.
        var rest: Set<Digest> = []
    }

    private static let emptyDigest = Digest.sha256(of: [])

    private let executor = BlockingExecutor(name: "berth.evidence")
    private let evidence: EvidenceDirectory

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(_ evidence: EvidenceDirectory) {
        self.evidence = evidence
    }

    /// Compares what is held with its digests and stores it, if with the pack that may be there already it is all.
    /// - Parameters:
    ///   - wanted: all blobs of the evidence.
    ///   - held: what is held of them.
    ///   - manifest: names the pack.
    /// - Returns: what there is and what is left to look for.
    /// - Throws: `SystemError`, `EncodingError`
    func complete(_ wanted: Set<Digest>, held: [Digest: [UInt8]], manifest: Digest) throws -> Found {
        var found = Found()
        var right: [Digest: [UInt8]] = [:]
        for (digest, bytes) in held {
            if Digest.sha256(of: bytes) == digest { right[digest] = bytes } else { found.wrong.append(digest) }
        }
        // Nothing has to come for an empty file.
        if wanted.contains(Self.emptyDigest) { right[Self.emptyDigest] = [] }
        found.rest = wanted.subtracting(right.keys)
        if !found.rest.isEmpty { found.rest.subtract(try evidence.intact(found.rest, in: manifest) ?? []) }
        found.pack = EvidencePack(blobs: right)
        if found.rest.isEmpty { try store(found.pack, as: manifest) }
        return found
    }

    /// Stores blobs as an attempt's pack.
    /// - Throws: `SystemError`, `EncodingError`
    func store(_ pack: EvidencePack, as manifest: Digest) throws {
        try evidence.store(pack, as: manifest)
    }

    /// Where a file of an attempt's evidence lies; nil if it is not there.
    /// - Throws: `ArchiveError.damagedPack`, `SystemError`
    func location(of file: Digest, in manifest: Digest) throws -> EvidenceDirectory.Location? {
        try evidence.location(of: file, in: manifest)
    }
}
