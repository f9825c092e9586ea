/// A run as the API shows it.
package struct RunView: Sendable, Hashable, Codable {
    package let id: String
    package let batch: String
    package let pins: Pins
    /// Names of the path's builds, in order.
    package let buildNames: [String]
    package let state: RunState
    package let verdict: RunVerdict?
    /// In order.
    package let attempts: [AttemptView]
    /// Milliseconds since 1970.
    package let submittedAt: Int64
    package let finishedAt: Int64?
    /// What the slot's labels must be; absent if nothing is asked of them.
    package let labels: [String: String]?
    /// The recorded run that this one replays.
    package let replays: String?

    package init(
        id: String,
        batch: String,
        pins: Pins,
        buildNames: [String],
        state: RunState,
        verdict: RunVerdict?,
        attempts: [AttemptView],
        submittedAt: Int64,
        finishedAt: Int64?,
        labels: [String: String]? = nil,
        replays: String? = nil
    ) {
        self.id = id
        self.batch = batch
        self.pins = pins
        self.buildNames = buildNames
        self.state = state
        self.verdict = verdict
        self.attempts = attempts
        self.submittedAt = submittedAt
        self.finishedAt = finishedAt
        self.labels = labels
        self.replays = replays
    }
}

/// One execution of a run.
package struct AttemptView: Sendable, Hashable, Codable {
    package let id: String
    package let slot: String
    package let host: String
    package let epoch: UInt64
    package let state: AttemptState
    package let outcome: Outcome?
    package let cause: OutcomeCause?
    package let checks: [CheckResult]
    /// The step that is being executed, while it is.
    package let progress: String?
    /// Milliseconds since 1970.
    package let assignedAt: Int64
    package let endedAt: Int64?
    /// What the agent reported; absent while it runs and for a lost attempt.
    package let report: AttemptReport?

    package init(
        id: String,
        slot: String,
        host: String,
        epoch: UInt64,
        state: AttemptState,
        outcome: Outcome?,
        cause: OutcomeCause?,
        checks: [CheckResult],
        progress: String?,
        assignedAt: Int64,
        endedAt: Int64?,
        report: AttemptReport?
    ) {
        self.id = id
        self.slot = slot
        self.host = host
        self.epoch = epoch
        self.state = state
        self.outcome = outcome
        self.cause = cause
        self.checks = checks
        self.progress = progress
        self.assignedAt = assignedAt
        self.endedAt = endedAt
        self.report = report
    }
}

extension AttemptView {
    /// The same attempt at a step.
    package func with(progress: String?) -> AttemptView { with(progress: progress, report: report) }

    /// The same attempt at a step, with another report or none.
    package func with(progress: String?, report: AttemptReport?) -> AttemptView {
        AttemptView(
            id: id,
            slot: slot,
            host: host,
            epoch: epoch,
            state: state,
            outcome: outcome,
            cause: cause,
            checks: checks,
            progress: progress,
            assignedAt: assignedAt,
            endedAt: endedAt,
            report: report
        )
    }
}

extension RunView {
    /// The same run with its attempts replaced.
    package func with(attempts: [AttemptView]) -> RunView {
        RunView(
            id: id,
            batch: batch,
            pins: pins,
            buildNames: buildNames,
            state: state,
            verdict: verdict,
            attempts: attempts,
            submittedAt: submittedAt,
            finishedAt: finishedAt,
            labels: labels,
            replays: replays
        )
    }
}
