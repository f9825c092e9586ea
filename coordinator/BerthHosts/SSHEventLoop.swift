import BerthSystem
import Foundation
import Synchronization

/// One thread that serves the connections of many hosts: it waits with poll(2) for their sockets and a wake-up pipe.
///
/// Everything of libssh2 happens on this thread. Other threads reach it through `submit` only.
package final class SSHEventLoop: Sendable {
    /// A request from another thread, handled in the order of submission.
    enum Job: Sendable {
        case add(id: UInt64, SSHDestination, SSHPurpose, OpenResult)
        case resolved(id: UInt64, Result<[SocketAddress], SSHError>)
        /// Look at the connection's channel: something was queued, taken, finished or closed.
        case wake(id: UInt64)
        /// The task that opens the connection was cancelled.
        case abort(id: UInt64)
        case stop
    }

    private struct State {
        var jobs: [Job] = []
        var isRunning = false
        /// A byte is in the wake-up pipe, or the thread is about to take the jobs.
        var isWoken = false
        var wakePipe: FileDescriptor?
        var stopWaiters: [CheckedContinuation<Void, Never>] = []
    }

    private let name: String
    private let state = Mutex(State())
    private let lastConnectionID = Atomic<UInt64>(0)

    /// - Parameter name: of the thread.
    package init(name: String = "ssh") {
        self.name = name
    }

    /// Starts the thread; without effect if it runs.
    /// - Throws: `SSHError.loopNotStarted`
    package func start() throws(SSHError) {
        let ends: (read: FileDescriptor, write: FileDescriptor)
        do {
            ends = try FileDescriptor.pipe()
            for end in [ends.read, ends.write] {
                try retryingInterrupts("make a pipe non-blocking") { fcntl(end.number, F_SETFL, O_NONBLOCK) }
            }
        } catch {
            throw .loopNotStarted(reason: "\(error)")
        }
        let starts = state.withLock { state in
            guard !state.isRunning else { return false }
            state.isRunning = true
            state.isWoken = false
            state.wakePipe = ends.write
            return true
        }
        guard starts else { return }
        let wakeUps = ends.read
        Threads.detach(name: name) { self.run(wakeUps: wakeUps) }
    }

    /// Closes all channels and ends the thread; returns when it has ended.
    package func stop() async {
        await withCheckedContinuation { continuation in
            let runs = state.withLock { state in
                if state.isRunning { state.stopWaiters.append(continuation) }
                return state.isRunning
            }
            if runs {
                submit(.stop)
            } else {
                continuation.resume()
            }
        }
    }

    func makeConnectionID() -> UInt64 {
        lastConnectionID.add(1, ordering: .relaxed).newValue
    }

    /// Hands a job to the thread.
    /// - Returns: false if the thread does not run; the job is then dropped.
    @discardableResult
    func submit(_ job: Job) -> Bool {
        state.withLock { state in
            guard state.isRunning else { return false }
            state.jobs.append(job)
            if !state.isWoken, let pipe = state.wakePipe {
                state.isWoken = true
                var byte: UInt8 = 1
                // The pipe is empty at this moment, so the byte finds room.
                _ = write(pipe.number, &byte, 1)
            }
            return true
        }
    }

    /// Opens a connection and suspends until it is what it was made for.
    func connect(id: UInt64, destination: SSHDestination, purpose: SSHPurpose) async throws(SSHError) -> HostKey {
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer = OpenResult(continuation)
                if !submit(.add(id: id, destination, purpose, answer)) { answer.give(.failure(.loopStopped)) }
                if Task.isCancelled { submit(.abort(id: id)) }
            }
        } onCancel: {
            submit(.abort(id: id))
        }
        return try result.get()
    }

    // MARK: The thread

    private func run(wakeUps: FileDescriptor) {
        var connections: [UInt64: SSHConnection] = [:]
        var isStopping = false
        while !isStopping {
            var ready: [UInt64: Int16] = [:]
            for job in takeJobs() {
                switch job {
                case .add(let id, let destination, let purpose, let answer):
                    let connection = SSHConnection(destination: destination, purpose: purpose, answer: answer)
                    connections[id] = connection
                    connection.begin { self.submit(.resolved(id: id, $0)) }
                    ready[id] = 0
                case .resolved(let id, let result):
                    connections[id]?.nameResolved(result)
                    ready[id] = 0
                case .wake(let id):
                    ready[id] = 0
                case .abort(let id):
                    connections[id]?.abort()
                    ready[id] = 0
                case .stop:
                    isStopping = true
                }
            }
            if !isStopping { waitForEvents(connections, wakeUps: wakeUps, ready: &ready) }
            let now = ContinuousClock.now
            for (id, events) in ready {
                guard let connection = connections[id] else { continue }
                connection.drive(events: events, now: now)
                if connection.isFinished { connections[id] = nil }
            }
        }
        for connection in connections.values { connection.end(.closedByUs) }
        // What was submitted meanwhile is answered like a submission to a stopped loop.
        let (jobs, waiters) = state.withLock { state in
            state.isRunning = false
            state.wakePipe = nil
            defer {
                state.jobs = []
                state.stopWaiters = []
            }
            return (state.jobs, state.stopWaiters)
        }
        for case .add(_, _, _, let answer) in jobs { answer.give(.failure(.loopStopped)) }
        for waiter in waiters { waiter.resume() }
    }

    private func takeJobs() -> [Job] {
        state.withLock { state in
            defer { state.jobs = [] }
            return state.jobs
        }
    }

    /// Waits until a socket, a deadline or a job needs attention, and adds who does to `ready`. Does not wait when
    /// `ready` already holds somebody.
    private func waitForEvents(
        _ connections: [UInt64: SSHConnection],
        wakeUps: FileDescriptor,
        ready: inout [UInt64: Int16]
    ) {
        var entries = [pollfd(fd: wakeUps.number, events: Int16(POLLIN), revents: 0)]
        var ids: [UInt64] = [0]
        var firstDeadline: ContinuousClock.Instant?
        var waits = ready.isEmpty
        for (id, connection) in connections {
            if let interest = connection.interest {
                entries.append(pollfd(fd: interest.socket, events: interest.events, revents: 0))
                ids.append(id)
            }
            if let deadline = connection.deadline { firstDeadline = min(firstDeadline ?? deadline, deadline) }
            if connection.wantsMore {
                ready[id] = ready[id] ?? 0
                waits = false
            }
        }
        var timeout: Int32 = waits ? -1 : 0
        if waits, let firstDeadline {
            let milliseconds = (firstDeadline - ContinuousClock.now) / .milliseconds(1)
            timeout = Int32(clamping: max(0, Int64(milliseconds.rounded(.up))))
        }
        let count = poll(&entries, nfds_t(entries.count), timeout)
        if entries[0].revents != 0 { drain(wakeUps) }
        if count > 0 {
            for index in entries.indices.dropFirst() where entries[index].revents != 0 {
                ready[ids[index]] = entries[index].revents
            }
        }
        let now = ContinuousClock.now
        for (id, connection) in connections {
            if let deadline = connection.deadline, deadline <= now { ready[id] = ready[id] ?? 0 }
        }
    }

    private func drain(_ wakeUps: FileDescriptor) {
        // Before the jobs are taken: a job submitted from here on writes a new byte.
        state.withLock { state in
            var bytes: (UInt64, UInt64) = (0, 0)
            _ = read(wakeUps.number, &bytes, 16)
            state.isWoken = false
        }
    }
}
