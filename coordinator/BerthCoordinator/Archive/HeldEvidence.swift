import BerthArchive
import BerthCore
import Synchronization

/// Small blobs of evidence between their chunks and the report that names them, in memory. What one sender says of a blob
/// does not touch what another says of it. Bounded: what finds no room goes on its way by the disk.
final class HeldEvidence: Sendable {
    struct Limits: Sendable {
        /// Longest blob that is held, in bytes.
        var blob = 256 << 10
        /// Most bytes of one sender.
        var sender = 16 << 20
        /// Most bytes of all.
        var all = 64 << 20
        /// A sender of whom nothing was heard for so long makes room for others; its agent is asked for the evidence again.
        var patience: Duration = .seconds(60)
    }

    /// What became of a chunk.
    enum Taken: Equatable {
        case held
        /// It is to be written to the disk, with what was held of its blob before.
        case forDisk(Chunk)
    }

    private struct Share {
        var blobs: [Digest: [UInt8]] = [:]
        var cost = 0
        var heardOf = ContinuousClock.now
    }

    private struct State {
        var shares: [UInt64: Share] = [:]
        var cost = 0
        var senders: UInt64 = 0
    }

    /// What a blob takes beside its bytes, so that many empty ones are not free.
    private static let costOfBlob = 512

    private let limits: Limits
    private let state = Mutex(State())

    init(limits: Limits = Limits()) {
        self.limits = limits
    }

    /// A sender that holds nothing yet.
    func makeSender() -> EvidenceSender {
        let number = state.withLock { state in
            state.senders += 1
            return state.senders
        }
        return EvidenceSender(number: number, held: self)
    }

    /// How many bytes all senders take.
    var cost: Int { state.withLock { $0.cost } }

    /// Holds a chunk that follows what is held of its blob; bytes that overlap are skipped.
    /// - Throws: `ArchiveError.gap`
    func take(_ chunk: Chunk, from sender: UInt64) throws -> Taken {
        try state.withLock { state in
            let known = state.shares[sender]?.blobs[chunk.digest]?.count
            // Of a blob of which nothing is held the rest may be on the disk.
            guard chunk.offset == 0 || known != nil else { return .forDisk(chunk) }
            let length = known ?? 0
            guard chunk.offset <= UInt64(length) else {
                throw ArchiveError.gap(chunk.digest, have: UInt64(length), offset: chunk.offset)
            }
            let fresh = chunk.bytes.dropFirst(length - Int(chunk.offset))
            let cost = fresh.count + (known == nil ? Self.costOfBlob : 0)
            if length + fresh.count > limits.blob
                || state.shares[sender, default: Share()].cost + cost > limits.sender
                || !makeRoom(for: cost, beside: sender, &state)
            {
                let bytes = (state.shares[sender]?.blobs[chunk.digest] ?? []) + fresh
                drop([chunk.digest], of: sender, &state)
                return .forDisk(Chunk(digest: chunk.digest, offset: 0, bytes: bytes))
            }
            state.shares[sender, default: Share()].blobs[chunk.digest, default: []] += fresh
            state.shares[sender]?.cost += cost
            state.shares[sender]?.heardOf = .now
            state.cost += cost
            return .held
        }
    }

    /// What is held of a sender's blobs.
    func blobs(_ wanted: Set<Digest>, of sender: UInt64) -> [Digest: [UInt8]] {
        state.withLock { state in
            guard state.shares[sender] != nil else { return [:] }
            state.shares[sender]?.heardOf = .now
            return state.shares[sender]?.blobs.filter { wanted.contains($0.key) } ?? [:]
        }
    }

    /// Lets blobs of a sender go.
    func drop(_ blobs: some Sequence<Digest>, of sender: UInt64) {
        state.withLock { drop(blobs, of: sender, &$0) }
    }

    /// Lets all go that a sender has.
    func dropAll(of sender: UInt64) {
        state.withLock { state in
            guard let share = state.shares.removeValue(forKey: sender) else { return }
            state.cost -= share.cost
        }
    }

    private func drop(_ blobs: some Sequence<Digest>, of sender: UInt64, _ state: inout State) {
        for digest in blobs {
            guard let bytes = state.shares[sender]?.blobs.removeValue(forKey: digest) else { continue }
            state.shares[sender]?.cost -= bytes.count + Self.costOfBlob
            state.cost -= bytes.count + Self.costOfBlob
        }
    }

    /// Lets those go of whom nothing was heard for longest, as long as that takes.
    private func makeRoom(for cost: Int, beside sender: UInt64, _ state: inout State) -> Bool {
        while state.cost + cost > limits.all {
            let oldest = state.shares.filter { $0.key != sender && $0.value.cost > 0 }
                .min { $0.value.heardOf < $1.value.heardOf }
            guard let oldest, .now - oldest.value.heardOf >= limits.patience else { return false }
            state.cost -= oldest.value.cost
            state.shares[oldest.key] = nil
        }
        return true
    }
}
