import BerthCore
import Synchronization

/// Ends a running attempt from outside, for one reason: the first that is given.
package final class AttemptControl: Sendable {
    /// Why an attempt is ended before its steps are through.
    package enum Reason: Sendable, Hashable {
        case cancelled(String)
        /// The lease was not renewed in time.
        case leaseLost
        /// The attempt's own time limit.
        case timeout(milliseconds: Int64)
        /// The agent is asked to end.
        case agentStopping
    }

    private struct State {
        var reason: Reason?
        var work: Task<Void, Never>?
    }

    private let state = Mutex(State())

    package init() {}

    /// Ends the attempt; later reasons are ignored.
    package func end(_ reason: Reason) {
        let work = state.withLock { state in
            if state.reason == nil { state.reason = reason }
            return state.work
        }
        work?.cancel()
    }

    /// The reason, if the attempt is being ended.
    package var reason: Reason? { state.withLock { $0.reason } }

    /// Names the task that a reason cancels.
    func attach(_ work: Task<Void, Never>) {
        let isEnding = state.withLock { state in
            state.work = work
            return state.reason != nil
        }
        if isEnding { work.cancel() }
    }
}
