import BerthSystem
import Foundation
import Synchronization

/// A program that is started again whenever it ends, as systemd does, until it is stopped.
final class SupervisedProcess: Sendable {
    private struct State {
        var process: ChildProcess?
        var isStopping = false
        var starts = 0
        var isHeldBack = false
    }

    let name: String
    /// What to start, by how often it was started already.
    private let specification: @Sendable (Int) -> ProcessSpecification
    /// Called between the end of one process and the start of the next.
    private let between: @Sendable () async -> Void
    private let state = Mutex(State())
    private let work = Mutex<Task<Void, Never>?>(nil)

    init(
        _ name: String,
        between: @escaping @Sendable () async -> Void = {},
        _ specification: @escaping @Sendable (Int) -> ProcessSpecification
    ) {
        self.name = name
        self.between = between
        self.specification = specification
    }

    var process: ChildProcess? { state.withLock { $0.process } }
    var starts: Int { state.withLock { $0.starts } }

    func start() {
        let task = Task { await self.run() }
        work.withLock { $0 = task }
    }

    private func run() async {
        while true {
            let process = state.withLock { state -> ChildProcess? in
                guard !state.isStopping, !state.isHeldBack,
                    let process = try? ChildProcess.spawn(specification(state.starts))
                else { return nil }
                state.process = process
                state.starts += 1
                return process
            }
            guard let process else {
                if state.withLock({ $0.isStopping }) { return }
                try? await Task.sleep(for: .milliseconds(100))
                continue
            }
            let end = await process.wait()
            state.withLock { $0.process = nil }
            await between()
            // A program that cannot start is not started in a tight loop.
            if end != .signalled(SIGKILL) { try? await Task.sleep(for: .milliseconds(100)) }
        }
    }

    /// Lets it not be started again for a while.
    func holdBack(_ isHeldBack: Bool) { state.withLock { $0.isHeldBack = isHeldBack } }

    /// Sends a signal to the process alone.
    func signal(_ number: Int32) {
        if let process, process.termination == nil { kill(process.pid, number) }
    }

    /// Ends it for good.
    func stop(grace: Duration = .seconds(5)) async {
        let process = state.withLock { state in
            state.isStopping = true
            return state.process
        }
        if let process, process.termination == nil {
            kill(process.pid, SIGCONT)
            await process.end(grace: grace)
        }
        await work.withLock { $0 }?.value
    }
}
