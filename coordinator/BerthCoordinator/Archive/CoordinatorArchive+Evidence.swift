import BerthArchive
import BerthCore
import BerthSystem

/// Evidence on its way from agents to the archive.
extension CoordinatorArchive {
    /// Takes in part of an attempt's evidence: small blobs are held until their report comes, others go to the disk.
    /// - Parameters:
    ///   - chunk: the part.
    ///   - sender: who sends it.
    /// - Throws: `ArchiveError`, `SystemError`
    nonisolated func receive(_ chunk: Chunk, from sender: EvidenceSender) async throws {
        guard case .forDisk(let rest) = try sender.hold(chunk) else { return }
        try await write(rest)
    }

    /// Checks that the evidence of a report has arrived as a whole, and stores what was held of it in one file.
    /// - Parameters:
    ///   - report: names it.
    ///   - sender: who has sent it.
    ///   - gaps: blobs of which something was not kept: what there is of them stays, and goes on from there when they
    ///     are sent again.
    /// - Returns: the blobs that are still missing.
    /// - Throws: `SystemError`; then what is held stays so
    nonisolated func completeEvidence(
        of report: AttemptReport,
        from sender: EvidenceSender,
        gaps: Set<Digest> = []
    ) async throws -> [Digest] {
        let wanted = report.evidenceBlobs
        let lane = lane(of: report.evidence)
        let held = sender.blobs(wanted.subtracting(gaps))
        let found = try await lane.complete(wanted, held: held, manifest: report.evidence)
        sender.drop(found.wrong)
        if !found.rest.isEmpty {
            let missing = try await commit(found.rest, gaps: gaps)
            guard missing.isEmpty else { return missing }
            try await lane.store(found.pack, as: report.evidence)
        }
        sender.dropAll()
        return []
    }

    /// Stores what has come of a report's evidence that will not become whole.
    /// - Parameters:
    ///   - report: names it.
    ///   - sender: who has sent it.
    /// - Throws: `SystemError`; then what is held stays so
    nonisolated func keepRest(of report: AttemptReport, from sender: EvidenceSender) async throws {
        for (digest, bytes) in sender.blobs(report.evidenceBlobs) {
            do { _ = try await store(bytes, as: digest) } catch is ArchiveError { continue }
        }
        sender.dropAll()
    }

    /// Where a file of an attempt's evidence lies; nil if it is not there.
    /// - Throws: `ArchiveError.damagedPack`, `SystemError`
    nonisolated func location(of file: Digest, in manifest: Digest) async throws -> EvidenceDirectory.Location? {
        try await lane(of: manifest).location(of: file, in: manifest)
    }
}

extension AttemptReport {
    /// All blobs of the evidence, the manifest among them.
    fileprivate var evidenceBlobs: Set<Digest> { Set(files.map(\.digest) + [evidence]) }
}
