import BerthArchive
import BerthCore
import BerthSystem
import Foundation
import Synchronization

/// One slot's agent: takes assignments from the newest channel, lets one attempt at a time be executed, keeps results
/// until they are acknowledged. Its methods block briefly (journal) and are called on threads of the sockets.
package final class SlotAgent: Sendable {
    /// What the agent is made of.
    package struct Parts: Sendable {
        package let slot: String
        package let journal: Journal
        package let results: PendingResults
        /// The folder that all of it lies in.
        package let state: StateFolder
        package let execution: AttemptExecution.Settings
        package let features: [String]
        package let places: SlotPlaces
        package let hooks: HarnessHooks
        let manualWork: ManualWork
    }

    /// An adopted connection.
    struct Channel {
        let number: Int
        let term: UInt64
        /// The `attach` at the other side.
        let peer: ProcessIdentity?
        let socket: FrameSocket
        let sender: ResultSender
    }

    struct Running {
        let reference: AttemptReference
        let control: AttemptControl
        let work: Task<Void, Never>
    }

    struct State {
        var channel: Channel?
        var connections = 0
        var running: Running?
        var lease: LeaseClock
        var heartbeat: Duration = .seconds(1)
        var length: Duration = .seconds(15)
        var isStopping = false
        /// The device is being cleaned between attempts.
        var isInUpkeep = false
        /// What the agent keeps, as it was when it was looked at last.
        var keeping: SlotKeeping?
        /// What was declined last, and why: the coordinator gives such an attempt up, so a second copy that was under way
        /// when it was declined must not be taken.
        var declined: [(reference: AttemptReference, cause: OutcomeCause)] = []
        /// The step that the other side does not know of yet, and when it was told of one last.
        var progress: (unsaid: BerthCore.Progress?, said: ContinuousClock.Instant?)
        /// Operators' orders that wait to be followed.
        var releases: [DeviceRelease] = []
    }

    static let log = Log(component: "agent")

    let parts: Parts
    let pulse = ExecutorPulse()
    let state: Mutex<State>
    /// One decision about an assignment or channel at a time; held over journal writes, unlike `state`.
    let decisions = Mutex<Void>(())
    /// One look at what is kept at a time, so that an older one never comes after a newer one. Taken after `decisions`.
    let looking = Mutex<Void>(())
    /// What the agent has said last on its channel of what it keeps; held over the sending, so that what is said last is
    /// what is true. Taken after `looking`, before `state`.
    let told = Mutex<SlotKeeping?>(nil)
    /// Tells the command that the agent cannot go on.
    private let failures: AsyncStream<AgentFailure>.Continuation
    package let failure: AsyncStream<AgentFailure>

    package init(_ parts: Parts) {
        self.parts = parts
        state = Mutex(State(lease: LeaseClock(margin: parts.hooks.leaseMargin)))
        (failure, failures) = AsyncStream.makeStream()
    }

    func fail(_ failure: AgentFailure) {
        failures.yield(failure)
    }

    /// Sends a control message over the present channel, if there is one.
    func send(_ message: HostMessage) {
        guard let channel = state.withLock({ $0.channel }) else { return }
        send(message, over: channel.socket)
    }

    func send(_ message: HostMessage, over socket: FrameSocket) {
        do {
            if !socket.queue.offer(try message.frame(route: parts.slot)) {
                Self.log.error("the channel takes no more messages and is closed", [:])
                socket.close()
            }
        } catch {
            Self.log.error("a message cannot be written", ["error": "\(error)"])
        }
    }

    // MARK: Assignments

    func assign(_ assignment: Assignment) {
        let reference = AttemptReference(attempt: assignment.attempt, epoch: assignment.epoch)
        decisions.withLock { _ in
            if state.withLock({ $0.running?.reference }) == reference {
                return send(.accepted(reference))
            }
            if parts.journal.state.unacknowledged.contains(reference) {
                send(.accepted(reference))
                return state.withLock { $0.channel?.sender }?.add(reference) ?? ()
            }
            let before = state.withLock { $0.declined.first { $0.reference == reference }?.cause }
            if let cause = before ?? refusal(assignment) {
                Self.log.notice("declined", ["attempt": assignment.attempt, "cause": cause.code])
                return decline(reference, cause)
            }
            do {
                try parts.journal.append(.assignment(assignment))
            } catch {
                let cause = OutcomeCause("journal-unwritable", "\(error)")
                Self.log.error("declined", ["attempt": assignment.attempt, "error": "\(error)"])
                parts.state.note(error)
                return decline(reference, cause)
            }
            start(assignment, reference)
        }
    }

    /// How many declined attempts are remembered: more than can be under way in two copies.
    private static let declinedLimit = 64

    private func decline(_ reference: AttemptReference, _ cause: OutcomeCause) {
        state.withLock { state in
            state.declined.append((reference, cause))
            if state.declined.count > Self.declinedLimit { state.declined.removeFirst() }
        }
        // Whoever has not known it before is told what stands in the way, before the answer.
        tellKeeping()
        send(.declined(Declination(attempt: reference.attempt, epoch: reference.epoch, cause: cause)))
    }

    private func refusal(_ assignment: Assignment) -> OutcomeCause? {
        let situation = AssignmentCheck.Situation(
            device: parts.execution.driver.facts,
            features: parts.features,
            highestEpoch: parts.hooks.ignoresFencing ? 0 : parts.journal.state.highestEpoch,
            isBusy: state.withLock { $0.running != nil || $0.isStopping },
            builds: parts.execution.builds
        )
        if let cause = AssignmentCheck.refusal(assignment, situation) ?? parts.manualWork.refusal
            ?? parts.state.trouble()?.refusal ?? parts.execution.driver.refusal()
        {
            return cause
        }
        guard !state.withLock({ $0.lease.isOver(at: .now) }) else {
            return OutcomeCause(
                "lease-over",
                "the assignment was under way for so long that its lease may have run out: the run may be elsewhere by now"
            )
        }
        guard !state.withLock({ $0.isInUpkeep }) else {
            return OutcomeCause("device-cleaning", "the device is being cleaned after an earlier attempt")
        }
        return nil
    }

    /// Keeps attempts away while the device is cleaned.
    /// - Returns: false when an attempt is running or the agent ends: then it is not the time.
    func beginUpkeep() -> Bool {
        decisions.withLock { _ in
            state.withLock { state in
                guard state.running == nil, !state.isStopping else { return false }
                state.isInUpkeep = true
                return true
            }
        }
    }

    func endUpkeep() {
        pulse.rest()
        state.withLock { $0.isInUpkeep = false }
    }

    private func start(_ assignment: Assignment, _ reference: AttemptReference) {
        guard let canary = Canary(nonce: assignment.nonce) else { return }
        let control = AttemptControl()
        let execution = AttemptExecution(
            assignment,
            canary: canary,
            settings: parts.execution,
            pulse: pulse,
            control: control,
            endIfOverdue: { self.endIfOverdue(at: .now) },
            secure: { try await self.write($0) },
            progress: { self.tell($0) }
        )
        state.withLock { state in
            state.lease.begin(reference, at: .now)
            // Awaited by `stop`; ended through its control.
            let work = Task { await self.execute(execution, reference) }
            state.running = Running(reference: reference, control: control, work: work)
        }
        Self.log.notice("accepted", ["attempt": assignment.attempt, "epoch": "\(assignment.epoch)"])
        send(.accepted(reference))
    }

    private func execute(_ execution: AttemptExecution, _ reference: AttemptReference) async {
        do {
            let finished = try await execution.run()
            try await keep(finished)
        } catch {
            // Without a result the attempt is not ended: the next start reports it as died.
            fail(AgentFailure(.disk, "the result of \(reference.attempt) cannot be kept: \(error)"))
        }
    }

    func cancel(_ cancellation: Cancellation) {
        let running = state.withLock { $0.running }
        guard let running, running.reference.attempt == cancellation.attempt,
            running.reference.epoch == cancellation.epoch
        else { return }
        running.control.end(.cancelled(cancellation.reason))
    }

    // MARK: Stopping

    /// Ends a running attempt, gives its result a moment to be delivered, and closes the channel.
    package func stop() async {
        let running = state.withLock { state in
            state.isStopping = true
            return state.running
        }
        running?.control.end(.agentStopping)
        await running?.work.value
        let deadline = ContinuousClock.now + .seconds(2)
        while state.withLock({ $0.channel }) != nil, !parts.journal.state.unacknowledged.isEmpty,
            ContinuousClock.now < deadline
        {
            try? await Task.sleep(for: .milliseconds(20))
        }
        _ = try? await Threads.run(name: "settle journal") { self.settleJournal() }
        guard let channel = state.withLock({ $0.channel }) else { return }
        send(.closing(Closing(reason: "the agent of \(parts.slot) ends")), over: channel.socket)
        channel.sender.end()
        channel.socket.queue.finish()
        _ = try? await Threads.run(name: "drain") { channel.socket.queue.waitUntilDrained(.milliseconds(500)) }
        channel.socket.close()
    }
}
