import Synchronization

/// How many bytes of what one host says may wait to be written down, whatever the number of its slots.
final class LinkBudget: Sendable {
    /// Most bytes that wait.
    static let limit = 32 << 20
    /// Of these, what evidence leaves to messages.
    private static let messageShare = 8 << 20
    /// A host that was refused this much more than was worked off sends without end.
    private static let refusalLimit = 1 << 30

    private struct State {
        var waiting = 0
        var refused = 0
    }

    private let state = Mutex(State())

    /// Takes room for an item.
    /// - Returns: whether there was room.
    func take(_ bytes: Int, isEvidence: Bool) -> Bool {
        state.withLock { state in
            guard state.waiting + bytes <= Self.limit - (isEvidence ? Self.messageShare : 0) else { return false }
            state.waiting += bytes
            return true
        }
    }

    /// An item was worked off.
    func give(_ bytes: Int) {
        state.withLock { state in
            state.waiting -= bytes
            state.refused = max(0, state.refused - bytes)
        }
    }

    /// There was no room for a part of evidence.
    /// - Returns: whether that can still be an honest host's.
    func refuse(_ bytes: Int) -> Bool {
        state.withLock { state in
            state.refused += bytes
            return state.refused <= Self.refusalLimit
        }
    }
}
