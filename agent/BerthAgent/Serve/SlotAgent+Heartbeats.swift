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

    /// Ends the running attempt when its lease has run out. Asked by the clock, and before each touch of the device: on a
    /// host that stood still the executor may be awake before the clock is.
    /// - Returns: when the lease ran out, nil while it holds.
    @discardableResult
    func endIfOverdue(at now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        state.withLock { state in
            guard let deadline = state.lease.deadline, now >= deadline else { return nil }
            state.running?.control.end(.leaseLost)
            return deadline
        }
    }

    /// Tells of a step: at once, or with the next look at the device when steps follow each other so fast that nobody could
    /// read of each.
    func tell(_ progress: BerthCore.Progress) {
        let isDue = state.withLock { state in
            let isDue = state.progress.said.map { ContinuousClock.now - $0 >= DeviceUpkeep.interval } ?? true
            state.progress = isDue ? (nil, .now) : (progress, state.progress.said)
            return isDue
        }
        if isDue { send(.progress(progress)) }
    }

    /// Tells of the step that has not been told of, if its attempt is still under way.
    func tellProgress() {
        let unsaid = state.withLock { state -> BerthCore.Progress? in
            guard let unsaid = state.progress.unsaid else { return nil }
            state.progress = (nil, .now)
            return state.running?.reference.attempt == unsaid.attempt ? unsaid : nil
        }
        if let unsaid { send(.progress(unsaid)) }
    }

    /// Sends a heartbeat, with what the agent keeps if that is news to the other side.
    func tick() {
        let now = ContinuousClock.now
        let overdue = pulse.overdue(at: now)
        let expired = endIfOverdue(at: now)
        let length = state.withLock { $0.length }
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
