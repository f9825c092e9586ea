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
            tick()
        }
    }

    /// Sends a heartbeat, with what the agent keeps if that is news to the other side.
    func tick() {
        let now = ContinuousClock.now
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
        told.withLock { told in
            let (channel, keeping) = state.withLock { ($0.channel, $0.keeping) }
            guard let channel else { return }
            let heartbeat = state.withLock { $0.lease.heartbeat(at: now) }
            send(.heartbeat(keeping == told ? heartbeat : heartbeat.with(keeping)), over: channel.socket)
            told = keeping
        }
    }
}
