import Dispatch
import Synchronization

/// Runs work on the thread that calls `run`, which is the supervisor's main thread: apps die with the thread that
/// started them, so it must be one that lives as long as the supervisor.
final class LaunchThread: Sendable {
    private struct State {
        var jobs: [@Sendable () -> Void] = []
        var stopped = false
    }

    private final class Outcome<Value: Sendable>: Sendable {
        let value = Mutex<Result<Value, any Error>?>(nil)
        let done = DispatchSemaphore(value: 0)
    }

    private let state = Mutex(State())
    private let arrived = DispatchSemaphore(value: 0)

    /// Does the work of others until `stop` is called.
    func run() {
        while true {
            arrived.wait()
            let (job, stopped) = state.withLock { state in
                (state.jobs.isEmpty ? nil : state.jobs.removeFirst(), state.stopped)
            }
            job?()
            if stopped, job == nil { return }
        }
    }

    /// Ends `run` after the work that has been handed in. Work handed in later is refused.
    func stop() {
        state.withLock { $0.stopped = true }
        arrived.signal()
    }

    /// Has the body run on the thread and waits for its result. Blocks.
    ///
    /// - Throws: what the body throws; `SimulatorError` after `stop`.
    func perform<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) throws -> Value {
        let outcome = Outcome<Value>()
        let accepted = state.withLock { state in
            guard !state.stopped else { return false }
            state.jobs.append {
                let result = Result { try body() }
                outcome.value.withLock { $0 = result }
                outcome.done.signal()
            }
            return true
        }
        guard accepted else { throw SimulatorError.wrongState("launch", .shuttingDown) }
        arrived.signal()
        outcome.done.wait()
        guard let result = outcome.value.withLock({ $0 }) else {
            throw SimulatorError.wrongState("launch", .shuttingDown)
        }
        return try result.get()
    }
}
