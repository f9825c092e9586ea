import BerthCore
import BerthSystem

/// Blobs on their way to one host during one connection. Each travels once, however many attempts wait for it.
///
/// Only so many bytes are under way that a heartbeat's answer behind them waits half a second at 1 MB/s: the host says
/// what it has written, and more follows.
actor BlobTransfers {
    /// Most bytes that are sent and not yet written by the host.
    static let window = 512 << 10

    private let host: String
    private let archive: CoordinatorArchive
    private let channel: HostChannel
    private var nextRequest: UInt64 = 1
    private var queries: [UInt64: CheckedContinuation<MissingBlobs, any Error>] = [:]
    private var confirmations: [Digest: CheckedContinuation<Void, any Error>] = [:]
    private var inFlight: [Digest: Task<Void, any Error>] = [:]
    /// Bytes of each blob that are sent and not yet written.
    private var underWay: [Digest: Int] = [:]
    private var waitingForRoom: [CheckedContinuation<Void, any Error>] = []
    private var ended: (any Error)?

    init(host: String, archive: CoordinatorArchive, channel: HostChannel) {
        self.host = host
        self.archive = archive
        self.channel = channel
    }

    /// Asks what the host lacks of these, sends it, and returns when the host has all.
    func provide(_ blobs: [BlobReference]) async throws {
        let sizes = Dictionary(blobs.map { ($0.digest, $0.size) }) { first, _ in first }
        let missing = try await query(blobs)
        var tasks: [Task<Void, any Error>] = []
        for lacking in missing.missing {
            guard let size = sizes[lacking.digest] else { continue }
            if let task = inFlight[lacking.digest] {
                tasks.append(task)
                continue
            }
            let blob = BlobReference(digest: lacking.digest, size: size)
            // Awaited below by whoever asked first, and by everyone who asks while it runs.
            let task = Task { try await self.send(blob, from: min(lacking.have, UInt64(max(size, 0)))) }
            inFlight[lacking.digest] = task
            tasks.append(task)
        }
        for task in tasks { try await task.value }
    }

    func answered(_ missing: MissingBlobs) {
        queries.removeValue(forKey: missing.request)?.resume(returning: missing)
    }

    func received(_ bytes: ReceivedBytes) {
        guard let sent = underWay[bytes.digest] else { return }
        // A host may say any number.
        underWay[bytes.digest] = sent - min(max(bytes.count, 0), sent)
        makeRoom()
    }

    func stored(_ digest: Digest) {
        forget(digest)
        confirmations.removeValue(forKey: digest)?.resume()
    }

    func refused(_ refusal: RefusedBlob) {
        forget(refusal.digest)
        confirmations.removeValue(forKey: refusal.digest)?
            .resume(throwing: HostLinkError.blobRefused(refusal.digest, reason: refusal.reason))
    }

    /// The connection is gone: everyone who waits is told.
    func end(_ error: any Error) {
        ended = error
        for query in queries.values { query.resume(throwing: error) }
        for confirmation in confirmations.values { confirmation.resume(throwing: error) }
        for waiting in waitingForRoom { waiting.resume(throwing: error) }
        waitingForRoom = []
        queries = [:]
        confirmations = [:]
    }

    private func query(_ blobs: [BlobReference]) async throws -> MissingBlobs {
        let request = nextRequest
        nextRequest += 1
        let frame = try CoordinatorMessage.query(BlobQuery(request: request, blobs: blobs)).frame().bytes
        return try await withCheckedThrowingContinuation { continuation in
            if let ended { return continuation.resume(throwing: ended) }
            queries[request] = continuation
            // A failed send ends the connection, which resumes the continuation through `end`.
            Task {
                do { try await channel.send(frame, .control) } catch {
                    queries.removeValue(forKey: request)?.resume(throwing: error)
                }
            }
        }
    }

    private func send(_ blob: BlobReference, from start: UInt64) async throws {
        defer { inFlight[blob.digest] = nil }
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            if let ended { return continuation.resume(throwing: ended) }
            confirmations[blob.digest] = continuation
            // Resumed by the host's answer, by `end`, or here when sending fails.
            Task {
                do { try await stream(blob, from: start) } catch {
                    confirmations.removeValue(forKey: blob.digest)?.resume(throwing: error)
                }
            }
        }
    }

    private func stream(_ blob: BlobReference, from start: UInt64) async throws {
        // Damage at rest is named here, where the file is, and never travels.
        try await archive.check(blob)
        var offset = start
        repeat {
            let bytes = try await archive.read(blob.digest, offset: offset, count: Frame.chunkSize)
            let chunk = Chunk(digest: blob.digest, offset: offset, bytes: bytes)
            try await waitForRoom(bytes.count, of: blob.digest)
            try await channel.send(Frame(type: .chunk, route: "", payload: chunk.payload).bytes, .bulk)
            offset += UInt64(bytes.count)
            if bytes.isEmpty { break }
        } while Int64(offset) < blob.size
    }

    private func waitForRoom(_ count: Int, of digest: Digest) async throws {
        while underWay.values.reduce(0, +) + count > Self.window {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                if let ended { return continuation.resume(throwing: ended) }
                waitingForRoom.append(continuation)
            }
        }
        underWay[digest, default: 0] += count
    }

    private func forget(_ digest: Digest) {
        underWay[digest] = nil
        makeRoom()
    }

    private func makeRoom() {
        let waiting = waitingForRoom
        waitingForRoom = []
        for continuation in waiting { continuation.resume() }
    }
}
