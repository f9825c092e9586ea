import BerthCore
import BerthSystem
import Foundation
import Synchronization

extension SlotAgent {
    /// Sends heartbeats and watches the lease until the task is cancelled. Never waits for the executor.
    package func beat() async {
        while !Task.isCancelled {
            let (interval, deadline) = state.withLock { ($0.heartbeat, $0.lease.deadline) }
            let now = ContinuousClock.now
            var next = now + interval
            if let deadline, deadline > now { next = min(next, deadline) }
            try? await Task.sleep(until: next)
            if Task.isCancelled { return }
            tick(at: .now)
        }
    }

    private func tick(at now: ContinuousClock.Instant) {
        let overdue = pulse.overdue(at: now)
        let (expired, length) = state.withLock { state -> (ContinuousClock.Instant?, Duration) in
            guard let deadline = state.lease.deadline, now >= deadline else { return (nil, state.length) }
            state.running?.control.end(.leaseLost)
            return (deadline, state.length)
        }
        if let overdue {
            // No heartbeat vouches for an executor that does not answer.
            Self.log.error("the executor is overdue", ["doing": overdue])
            if let expired, now > expired + length + .seconds(30) {
                fail(AgentFailure(.executorStuck, "the executor does not come back from: \(overdue)"))
            }
            return
        }
        guard let channel = state.withLock({ $0.channel }) else { return }
        send(.heartbeat(state.withLock { $0.lease.heartbeat(at: now) }), over: channel.socket)
    }
}
