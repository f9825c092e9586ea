import BerthArchive
import BerthCore
import BerthSystem
import Foundation

/// Gathers what an attempt leaves. Every byte passes the search for the canary before it is kept; every file and the
/// whole are bounded.
package struct EvidenceCollector: Sendable {
    /// Most bytes of one file.
    static let fileLimit = 1 << 20
    /// Most bytes of all files; what comes later is named with what was left out.
    static let totalLimit = 8 << 20

    private let canary: Canary
    /// As it is before its first byte; making one takes longer than a small file.
    private let fresh: CanarySearch
    private var contents: [String: [UInt8]] = [:]
    private var total = 0
    /// Where the canary was found: path and form.
    package private(set) var leaks: [String] = []

    package init(canary: Canary) {
        self.canary = canary
        fresh = CanarySearch(canary)
    }

    /// Adds a file under its path within the evidence.
    package mutating func add(_ path: String, _ bytes: some Collection<UInt8>) {
        var search = fresh
        var kept = HeadAndTail(limit: Self.fileLimit)
        kept.add(search.feed(bytes))
        kept.add(search.finish())
        keep(path, kept.finish(), search.found)
    }

    /// Adds a file from disk; one that cannot be read is noted as such.
    package mutating func add(_ path: String, file: String) {
        var search = fresh
        var kept = HeadAndTail(limit: Self.fileLimit)
        do {
            let descriptor = try FileDescriptor(path: file, flags: O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
            while true {
                let part = try descriptor.read(upTo: FileDescriptor.pieceSize)
                if part.isEmpty { break }
                kept.add(search.feed(part))
            }
        } catch let error as SystemError where error.code == ENOENT {
            return
        } catch {
            kept.add(search.feed(Array("[unreadable: \(error)]\n".utf8)))
        }
        kept.add(search.finish())
        keep(path, kept.finish(), search.found)
    }

    /// Searches a text of the agent's own messages; `place` names it where a leak is told.
    package mutating func mask(_ bytes: [UInt8], place: String) -> [UInt8] {
        var search = fresh
        let masked = search.feed(bytes) + search.finish()
        note(place, search.found)
        return masked
    }

    /// The manifest with all blobs, the manifest's own among them.
    /// - Throws: `EncodingError`
    package func finish(
        attempt: String,
        epoch: UInt64
    ) throws -> (manifest: Digest, files: [EvidenceFile], blobs: [Digest: [UInt8]]) {
        var blobs: [Digest: [UInt8]] = [:]
        let files = contents.map { path, bytes in
            let digest = Digest.sha256(of: bytes)
            blobs[digest] = bytes
            return EvidenceFile(path: path, size: Int64(bytes.count), digest: digest)
        }
        let manifest = EvidenceManifest(attempt: attempt, epoch: epoch, files: files)
        let bytes = try CanonicalJSON.encode(manifest)
        let digest = Digest.sha256(of: bytes)
        blobs[digest] = bytes
        return (digest, manifest.files, blobs)
    }

    private mutating func keep(_ path: String, _ bytes: [UInt8], _ found: Set<String>) {
        note(path, found)
        if total + bytes.count > Self.totalLimit {
            contents[path] = Array(
                "[\(bytes.count) bytes are left out: the evidence has reached \(Self.totalLimit) bytes]\n".utf8
            )
        } else {
            contents[path] = bytes
            total += bytes.count
        }
    }

    private mutating func note(_ place: String, _ found: Set<String>) {
        for form in found.sorted() where !leaks.contains("\(place) (\(form))") { leaks.append("\(place) (\(form))") }
    }
}
