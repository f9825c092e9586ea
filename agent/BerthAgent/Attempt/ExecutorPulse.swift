import BerthSystem
import Synchronization

/// Tells whether the executor is alive: it says beforehand by when it will speak again, and is overdue afterwards.
package final class ExecutorPulse: Sendable {
    private struct State {
        var doing = "nothing"
        var deadline: ContinuousClock.Instant?
    }

    /// How long the executor's own work between two calls may take.
    package static let ownWork: Duration = .seconds(60)
    /// What is granted on top of a step's own limit: the end of its processes and their output.
    private static let slack: Duration = .seconds(10)

    private let state = Mutex(State())

    package init() {}

    /// The executor begins something that ends within a time.
    package func expect(_ doing: String, within limit: Duration) {
        state.withLock {
            $0.doing = doing
            $0.deadline = ContinuousClock.now + limit + Self.slack
        }
    }

    /// The executor has nothing to do.
    package func rest() {
        state.withLock { $0 = State() }
    }

    /// What the executor should have ended by now, or nil while it is on time.
    package func overdue(at now: ContinuousClock.Instant) -> String? {
        state.withLock { state in
            guard let deadline = state.deadline, now > deadline else { return nil }
            return state.doing
        }
    }
}
