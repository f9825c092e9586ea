import BerthArchive
import BerthCore
import BerthSystem
import Foundation

/// The archive directory behind executors of its own: builds and cases as blobs, evidence as blobs and packs.
package actor CoordinatorArchive {
    /// Longest manifest that is read, in bytes.
    static let manifestLimit = 16 << 20
    /// Longest blob of an attempt's evidence, in bytes.
    static let evidenceLimit: Int64 = 64 << 20

    /// Most transfers of evidence whose files are open at a time; the others go on where they stand.
    private static let openLimit = 64

    /// How many attempts' evidence is stored at a time: they wait for the disk more than they work.
    private static let laneCount = 4

    private let executor = BlockingExecutor(name: "berth.archive")
    private let blobs: BlobDirectory
    private let lanes: [EvidenceLane]
    private let held = HeldEvidence()
    private var incoming: [Digest: PartialBlob] = [:]

    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// - Throws: `SystemError`
    package init(path: String) throws {
        let blobs = try BlobDirectory(path: path)
        self.blobs = blobs
        lanes = (0..<Self.laneCount).map { _ in EvidenceLane(EvidenceDirectory(beside: blobs)) }
    }

    /// What writes the evidence under a manifest.
    nonisolated func lane(of manifest: Digest) -> EvidenceLane {
        lanes[Int(manifest.hex.utf8.last ?? 0) % lanes.count]
    }

    /// A slot's agent on a new channel.
    nonisolated func makeSender() -> EvidenceSender { held.makeSender() }

    /// Where a blob lies if it is there, with its length.
    func location(of digest: Digest) -> (path: String, size: Int64)? {
        blobs.size(of: digest).map { (blobs.path(of: digest), $0) }
    }

    func missing(_ wanted: [BlobReference]) -> [Digest] {
        wanted.map(\.digest).filter { !blobs.contains($0) }
    }

    /// Stores bytes that are said to have a digest.
    /// - Returns: whether they are new.
    /// - Throws: `ArchiveError.digestMismatch`, `SystemError`
    func store(_ bytes: [UInt8], as digest: Digest) throws -> Bool {
        let actual = Digest.sha256(of: bytes)
        guard actual == digest else {
            throw ArchiveError.digestMismatch(expected: digest, actual: actual)
        }
        if blobs.contains(digest) { return false }
        try blobs.insert(bytes)
        return true
    }

    /// Part of a blob, for a transfer whose receiver checks the whole.
    func read(_ digest: Digest, offset: UInt64, count: Int) throws -> [UInt8] {
        try blobs.read(digest, offset: offset, count: count)
    }

    /// A build's manifest.
    /// - Throws: `ArchiveError`, `FormatError`, `SystemError`
    func manifest(_ build: Digest) throws -> BuildManifest {
        try BuildManifest.parse(try blobs.read(build, limit: Self.manifestLimit))
    }

    /// Checks that a manifest's build is archived as a whole, and reads what it says about itself.
    /// - Throws: `ArchiveError`, `FormatError`, `SystemError`
    func inspect(_ build: Digest) throws -> (description: BuildDescription, size: Int64) {
        let bytes = try blobs.read(build, limit: Self.manifestLimit)
        let manifest = try BuildManifest.parse(bytes)
        guard try CanonicalJSON.encode(manifest) == bytes else {
            throw FormatError(
                document: "build manifest",
                problem: "its bytes are not canonical, so its ID would be ambiguous"
            )
        }
        for blob in manifest.blobs {
            guard let size = blobs.size(of: blob.digest) else { throw ArchiveError.missingBlob(blob.digest) }
            guard size == blob.size else {
                throw ArchiveError.wrongSize(blob.digest, expected: blob.size, actual: size)
            }
        }
        let size = manifest.entries.reduce(0) { $0 + ($1.size ?? 0) }
        return (try BundleInspector.describe(manifest, in: blobs), size)
    }

    /// What a build lacks in the archive, in words, by names and sizes of its files; nil if nothing.
    func presenceFault(of build: Digest) -> String? {
        do {
            for blob in try manifest(build).blobs {
                guard let size = blobs.size(of: blob.digest) else { throw ArchiveError.missingBlob(blob.digest) }
                guard size == blob.size else {
                    throw ArchiveError.wrongSize(blob.digest, expected: blob.size, actual: size)
                }
            }
            return nil
        } catch {
            return "\(error)"
        }
    }

    /// Checks a blob as it lies there, every byte of it.
    /// - Throws: `ArchiveError`, `SystemError`
    func check(_ blob: BlobReference) throws {
        try blobs.check(blob)
    }

    /// What is missing or damaged of a build, in words, after reading every byte of it. Other work goes on meanwhile.
    nonisolated func faults(of build: Digest) async -> [String] {
        let blobs = blobs
        return await withCheckedContinuation { continuation in
            Threads.detach(name: "check build") { continuation.resume(returning: Self.faults(of: build, in: blobs)) }
        }
    }

    private static func faults(of build: Digest, in blobs: BlobDirectory) -> [String] {
        let manifest: BuildManifest
        do {
            manifest = try BuildManifest.parse(try blobs.read(build, limit: manifestLimit))
        } catch {
            return ["its manifest cannot be used: \(error)"]
        }
        return manifest.entries.compactMap { entry in
            guard let digest = entry.digest, let size = entry.size else { return nil }
            do {
                try blobs.check(BlobReference(digest: digest, size: size))
                return nil
            } catch {
                return "file \(entry.path): \(error)"
            }
        }
    }

    /// All blobs that a host needs to install a build, its manifest among them.
    func blobs(of build: Digest) throws -> [BlobReference] {
        let manifest = try manifest(build)
        guard let size = blobs.size(of: build) else { throw ArchiveError.missingBlob(build) }
        return [BlobReference(digest: build, size: size)] + manifest.blobs
    }

    /// Writes part of an attempt's evidence on its way to the blobs.
    /// - Throws: `ArchiveError`, `SystemError`
    func write(_ chunk: Chunk) throws {
        guard !blobs.contains(chunk.digest) else { return }
        if incoming.count >= Self.openLimit, incoming[chunk.digest] == nil { incoming.removeAll() }
        let known = incoming[chunk.digest]
        // A gap is no reason to make a file.
        if known == nil, chunk.offset > 0 {
            let have = blobs.partialSize(of: chunk.digest)
            guard chunk.offset <= have else {
                throw ArchiveError.gap(chunk.digest, have: have, offset: chunk.offset)
            }
        }
        let partial = try known ?? blobs.begin(BlobReference(digest: chunk.digest, size: Self.evidenceLimit))
        incoming[chunk.digest] = partial
        try partial.write(offset: chunk.offset, bytes: chunk.bytes)
    }

    /// Makes blobs of what was written of them.
    /// - Parameters:
    ///   - wanted: the blobs.
    ///   - gaps: those of which something was not kept: what there is of them stays.
    /// - Returns: what is missing.
    /// - Throws: `SystemError`
    func commit(_ wanted: Set<Digest>, gaps: Set<Digest>) throws -> [Digest] {
        var missing: [Digest] = []
        for digest in wanted where !blobs.contains(digest) {
            if !gaps.contains(digest), blobs.partialSize(of: digest) > 0 {
                let partial =
                    try incoming[digest] ?? blobs.begin(BlobReference(digest: digest, size: Self.evidenceLimit))
                do { try partial.commit() } catch is ArchiveError { missing.append(digest) }
            } else {
                missing.append(digest)
            }
        }
        for digest in wanted { incoming[digest] = nil }
        return missing
    }
}
