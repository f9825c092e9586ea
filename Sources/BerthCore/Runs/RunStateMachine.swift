/// The life of one run and of the attempt that it has now, as a value that events move.
///
/// The store reads it, applies one event and writes what came out, under the condition that nothing moved in between;
/// whoever asks why a run is where it is, asks this. Legal states are constraints of the database too.
package struct RunStateMachine: Sendable, Hashable {
    /// What happens to a run.
    package enum Event: Sendable, Hashable {
        /// A slot takes it, as a new attempt.
        case claimed
        /// The agent has journaled the attempt.
        case accepted
        /// The agent does not take the attempt, or it was taken back before any agent knew of it: nothing was executed.
        case declined
        /// The attempt has an outcome.
        case ended(Outcome, History)
        /// Somebody wants no more of it.
        case cancelled
        /// Its batch's deadline has passed.
        case expired
    }

    /// What is known of a run's other attempts, and of other runs with the same pins, when an attempt ends.
    package struct History: Sendable, Hashable {
        /// Attempts of this run that ended without proof, this one not counted.
        package let unproven: Int
        /// How many attempts may end so.
        package let limit: Int
        /// Equal pins have ended the other way before: passed for failed, failed for passed.
        package let isContradicted: Bool

        package init(unproven: Int, limit: Int, isContradicted: Bool) {
            self.unproven = unproven
            self.limit = limit
            self.isContradicted = isContradicted
        }
    }

    /// How a run is to end that is not wanted any more.
    package enum EndRequest: Sendable, Hashable {
        case cancel
        case expire
    }

    /// An event that cannot happen where the run stands.
    package struct IllegalMove: Error, Hashable, CustomStringConvertible {
        package let event: Event
        package let run: RunState
        package let attempt: AttemptState?

        package var description: String {
            "\(event) cannot happen to a run that is \(run.rawValue) with "
                + (attempt.map { "an attempt that is \($0.rawValue)" } ?? "no attempt")
        }
    }

    package private(set) var run: RunState
    /// Present once the run has its end.
    package private(set) var verdict: RunVerdict?
    /// The run's latest attempt, absent before the first.
    package private(set) var attempt: AttemptState?
    /// Asked for while an attempt holds the run: the run ends so with its attempt.
    package private(set) var endRequest: EndRequest?

    package init(
        run: RunState = .queued,
        verdict: RunVerdict? = nil,
        attempt: AttemptState? = nil,
        endRequest: EndRequest? = nil
    ) {
        self.run = run
        self.verdict = verdict
        self.attempt = attempt
        self.endRequest = endRequest
    }

    /// Moves the run.
    /// - Throws: `IllegalMove`; then nothing has moved.
    package mutating func apply(_ event: Event) throws(IllegalMove) {
        switch (event, run, attempt) {
        case (.claimed, .queued, nil), (.claimed, .queued, .ended), (.claimed, .queued, .declined):
            run = .assigned
            attempt = .assigned
        case (.accepted, .assigned, .assigned):
            run = .running
            attempt = .running
        case (.declined, .assigned, .assigned):
            attempt = .declined
            leaveSlot()
        case (.ended(let outcome, let history), .assigned, .assigned),
            (.ended(let outcome, let history), .running, .running):
            attempt = .ended
            end(outcome, history)
        case (.cancelled, .queued, _): finish(.cancelled, .cancelled)
        case (.expired, .queued, _): finish(.expired, .expired)
        case (.cancelled, .assigned, .assigned), (.cancelled, .running, .running): endRequest = .cancel
        // Who cancelled first has the say.
        case (.expired, .assigned, .assigned), (.expired, .running, .running): endRequest = endRequest ?? .expire
        default: throw IllegalMove(event: event, run: run, attempt: attempt)
        }
    }

    private mutating func end(_ outcome: Outcome, _ history: History) {
        switch outcome {
        // What is proved is proved, even if nobody wants to know any more.
        case .passed: finish(.finished, history.isContradicted ? .flaky : .passed)
        case .failed: finish(.finished, history.isContradicted ? .flaky : .failed)
        case .cancelled where endRequest != .expire: finish(.cancelled, .cancelled)
        case .cancelled, .errored, .void, .lost:
            if endRequest == nil, history.unproven + 1 >= history.limit {
                finish(.finished, .unproven)
            } else {
                leaveSlot()
            }
        }
    }

    /// Without a verdict of its own: ended as was asked for, or waiting again.
    private mutating func leaveSlot() {
        switch endRequest {
        case .cancel: finish(.cancelled, .cancelled)
        case .expire: finish(.expired, .expired)
        case nil: run = .queued
        }
    }

    private mutating func finish(_ state: RunState, _ verdict: RunVerdict) {
        run = state
        self.verdict = verdict
        endRequest = nil
    }
}
