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
        /// The task that opens the connection was cancelled.
        case abort(id: UInt64)
        case stop
    }

    private struct State {
        var jobs: [Job] = []
        /// Connections whose channel has something to look at: queued, taken, finished or closed.
        var woken: Set<UInt64> = []
        var isRunning = false
        /// The thread waits, or is about to, and no byte is in the wake-up pipe: only then a byte is needed.
        var needsByte = false
        /// How often the thread was woken by a byte.
        var wakeUpCount: UInt64 = 0
        var wakePipe: FileDescriptor?
        var stopWaiters: [CheckedContinuation<Void, Never>] = []
    }

    private let name: String
    private let state = Mutex(State())
    private let lastConnectionID = Atomic<UInt64>(0)
    private let connections = Atomic<Int>(0)

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
            state.needsByte = false
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
            Self.wakeThread(&state)
            return true
        }
    }

    /// Makes the thread look at a connection's channel; many calls before it looks are one.
    func wake(id: UInt64) {
        state.withLock { state in
            guard state.isRunning, state.woken.insert(id).inserted else { return }
            Self.wakeThread(&state)
        }
    }

    private static func wakeThread(_ state: inout State) {
        guard state.needsByte, let pipe = state.wakePipe else { return }
        state.needsByte = false
        state.wakeUpCount += 1
        var byte: UInt8 = 1
        // The pipe is empty at this moment, so the byte finds room.
        _ = write(pipe.number, &byte, 1)
    }

    /// How many connections the loop serves at this moment.
    package var connectionCount: Int { connections.load(ordering: .relaxed) }

    /// How often the thread had to be woken so far; messages that find it awake cost no wake-up.
    package var wakeUpCount: UInt64 { state.withLock { $0.wakeUpCount } }

    /// Opens a connection and suspends until it is what it was made for.
    func connect(id: UInt64, destination: SSHDestination, purpose: SSHPurpose) async throws(SSHError) -> HostKey {
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer = OpenResult(continuation)
                if submit(.add(id: id, destination, purpose, answer)) {
                    // Counted from here on, so that many connections opened at once are spread.
                    connections.add(1, ordering: .relaxed)
                } else {
                    answer.give(.failure(.loopStopped))
                }
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
            let (jobs, woken) = takeJobs()
            for id in woken { ready[id] = 0 }
            for job in jobs {
                switch job {
                case .add(let id, let destination, let purpose, let answer):
                    let connection = SSHConnection(destination: destination, purpose: purpose, answer: answer)
                    connections[id] = connection
                    connection.begin { self.submit(.resolved(id: id, $0)) }
                    ready[id] = 0
                case .resolved(let id, let result):
                    connections[id]?.nameResolved(result)
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
                if connection.isFinished {
                    connections[id] = nil
                    self.connections.subtract(1, ordering: .relaxed)
                }
            }
        }
        for connection in connections.values { connection.end(.closedByUs) }
        self.connections.store(0, ordering: .relaxed)
        // What was submitted meanwhile is answered like a submission to a stopped loop.
        let (jobs, waiters) = state.withLock { state in
            state.isRunning = false
            state.wakePipe = nil
            defer {
                state.jobs = []
                state.woken = []
                state.stopWaiters = []
            }
            return (state.jobs, state.stopWaiters)
        }
        for case .add(_, _, _, let answer) in jobs { answer.give(.failure(.loopStopped)) }
        for waiter in waiters { waiter.resume() }
    }

    private func takeJobs() -> (jobs: [Job], woken: Set<UInt64>) {
        state.withLock { state in
            defer {
                state.jobs = []
                state.woken.removeAll(keepingCapacity: true)
            }
            return (state.jobs, state.woken)
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
        if timeout != 0, !announceWaiting() { timeout = 0 }
        let count = poll(&entries, nfds_t(entries.count), timeout)
        endWaiting(wakeUps, hasByte: count > 0 && entries[0].revents != 0)
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

    /// Asks for a byte from whoever has something to do from here on.
    /// - Returns: false if something is to be done already.
    private func announceWaiting() -> Bool {
        state.withLock { state in
            state.needsByte = state.jobs.isEmpty && state.woken.isEmpty
            return state.needsByte
        }
    }

    private func endWaiting(_ wakeUps: FileDescriptor, hasByte: Bool) {
        state.withLock { state in
            // Without a byte seen there may still be one that came after poll had looked; it costs one more round.
            state.needsByte = false
            guard hasByte else { return }
            var bytes: (UInt64, UInt64) = (0, 0)
            _ = read(wakeUps.number, &bytes, 16)
        }
    }
}
