import BerthCore
import Synchronization

/// What one slot's agent says and what has to be written down, in the order in which it came.
///
/// It is worked off apart from the host's channel (`Farm.serve`), so that neither heartbeats nor other slots of the host
/// wait for the store or the archive. It is bounded, by itself and by what its host's slots share (`LinkBudget`): what
/// does not fit is refused, and asked for again later.
final class SlotInbox: Sendable {
    enum Item: Sendable {
        case hello(AgentHello)
        case accepted(AttemptReference)
        case declined(Declination)
        case result(AttemptReport)
        /// The agent vouches for an attempt that this coordinator knows nothing of.
        case running(AttemptReference)
        /// Part of an attempt's evidence.
        case chunk(Chunk)

        var isEvidence: Bool { if case .chunk = self { true } else { false } }
    }

    /// An item with its length on the wire.
    struct Entry: Sendable {
        let item: Item
        let bytes: Int
    }

    enum Offer {
        case taken
        /// No room in the slot's own share, or for evidence.
        case refused
        /// More waits than one host may have waiting.
        case flood
    }

    /// Most bytes of evidence that wait.
    static let byteLimit = 16 << 20
    /// Most messages that wait.
    static let messageLimit = 64
    /// Most blobs whose gaps are remembered.
    private static let lostLimit = 10_000

    private struct State {
        var bytes = 0
        var messages = 0
        var isEnded = false
        var lostEvidence: String?
        var lostBlobs: Set<Digest> = []
    }

    let slot: String
    let link: HostLink
    /// Who sends what comes of evidence.
    let sender: EvidenceSender
    let entries: AsyncStream<Entry>
    private let added: AsyncStream<Entry>.Continuation
    private let budget: LinkBudget
    private let state = Mutex(State())

    init(slot: String, link: HostLink, budget: LinkBudget, sender: EvidenceSender) {
        self.slot = slot
        self.link = link
        self.sender = sender
        self.budget = budget
        (entries, added) = AsyncStream.makeStream()
    }

    /// Adds an item, if there is room for it.
    func offer(_ entry: Entry) -> Offer {
        state.withLock { state in
            if entry.item.isEvidence {
                guard state.bytes + entry.bytes <= Self.byteLimit, budget.take(entry.bytes, isEvidence: true) else {
                    return budget.refuse(entry.bytes) ? .refused : .flood
                }
                state.bytes += entry.bytes
            } else {
                guard state.messages < Self.messageLimit else { return .refused }
                guard budget.take(entry.bytes, isEvidence: false) else { return .flood }
                state.messages += 1
            }
            added.yield(entry)
            return .taken
        }
    }

    /// An item was worked off.
    func done(_ entry: Entry) {
        state.withLock { state in
            if entry.item.isEvidence { state.bytes -= entry.bytes } else { state.messages -= 1 }
        }
        budget.give(entry.bytes)
    }

    /// Part of the evidence could not be kept, for this reason; the first one counts.
    /// - Returns: whether it is the first one.
    func lostEvidence(_ reason: String, of digest: Digest) -> Bool {
        state.withLock { state in
            if state.lostBlobs.count < Self.lostLimit { state.lostBlobs.insert(digest) }
            defer { state.lostEvidence = state.lostEvidence ?? reason }
            return state.lostEvidence == nil
        }
    }

    /// Why evidence was not kept since this was asked last.
    func takeLostEvidence() -> String? {
        state.withLock { state in
            defer {
                state.lostEvidence = nil
                state.lostBlobs = []
            }
            return state.lostEvidence
        }
    }

    /// The blobs that have a gap where evidence was not kept.
    var lostBlobs: Set<Digest> { state.withLock { $0.lostBlobs } }

    /// The channel is gone: what still waits will be said again.
    func end() {
        state.withLock { $0.isEnded = true }
        added.finish()
    }

    var isEnded: Bool { state.withLock { $0.isEnded } }
}
