import BerthArchive
import BerthCore
import BerthSystem
import Foundation

/// Brings blobs from the coordinator into the host's cache. It is used by one thread.
final class BlobReceiver {
    /// Most blobs that are announced and not yet there.
    static let announcedLimit = 200_000

    /// Most transfers whose files are open.
    private static let openLimit = 64

    private let cache: BlobDirectory
    private var announced: [Digest: Int64] = [:]
    private var open: [Digest: PartialBlob] = [:]

    init(cache: BlobDirectory) {
        self.cache = cache
    }

    /// Which of the blobs are missing; they are expected from now on.
    func answer(_ query: BlobQuery) -> [HostMessage] {
        var missing: [MissingBlobs.Missing] = []
        for blob in query.blobs where !cache.contains(blob.digest) {
            guard announced.count < Self.announcedLimit else {
                return [.refused(RefusedBlob(digest: blob.digest, reason: "too many blobs are announced at once"))]
            }
            announced[blob.digest] = blob.size
            open[blob.digest] = nil
            let have = cache.partialSize(of: blob.digest)
            missing.append(.init(digest: blob.digest, have: have < UInt64(clamping: blob.size) ? have : 0))
        }
        return [.missing(MissingBlobs(request: query.request, missing: missing))]
    }

    /// Takes a chunk.
    /// - Returns: the message that tells of the bytes, or of a blob that is whole or refused.
    func take(_ chunk: Chunk) -> [HostMessage] {
        let digest = chunk.digest
        if cache.contains(digest) {
            forget(digest)
            return [.stored(StoredBlob(digest: digest))]
        }
        guard let size = announced[digest] else {
            return [.refused(RefusedBlob(digest: digest, reason: "no query announced this blob"))]
        }
        do {
            // A transfer whose file was closed goes on where it stands.
            if open.count >= Self.openLimit, open[digest] == nil { open.removeAll() }
            let partial = try open[digest] ?? cache.begin(BlobReference(digest: digest, size: size))
            open[digest] = partial
            try partial.write(offset: chunk.offset, bytes: chunk.bytes)
            guard partial.isWhole else {
                return [.received(ReceivedBytes(digest: digest, count: chunk.bytes.count))]
            }
            forget(digest)
            try partial.commit()
            return [.stored(StoredBlob(digest: digest))]
        } catch {
            forget(digest)
            return [.refused(RefusedBlob(digest: digest, reason: "\(error)"))]
        }
    }

    private func forget(_ digest: Digest) {
        announced[digest] = nil
        open[digest] = nil
    }
}
