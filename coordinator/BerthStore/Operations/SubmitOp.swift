import BerthCore

/// One pin tuple of a submission, and how often it shall run.
package struct SubmittedRun: Sendable, Hashable, Encodable {
    package let pins: Pins
    /// What the slot's labels must be.
    package let labels: [String: String]
    /// From 1.
    package let repeats: Int
    /// The recorded run that this one replays.
    package let replays: String?

    package init(pins: Pins, labels: [String: String] = [:], repeats: Int = 1, replays: String? = nil) {
        self.pins = pins
        self.labels = labels
        self.repeats = repeats
        self.replays = replays
    }
}

/// A submission with everything resolved to pins: what `Store.submit` takes.
package struct SubmitOp: Sendable {
    package let submitter: String
    /// A repeat under the same key gives the batch that the first submission made.
    package let idempotencyKey: String?
    /// What the key stands for, such as the digest of the request's bytes. Absent: the runs themselves, so that a
    /// repeat conflicts when `latest` has come to mean another version since.
    package let content: Digest?
    /// The batch's name for people.
    package let name: String?
    /// In the order in which they are queued.
    package let runs: [SubmittedRun]
    /// Higher goes first.
    package let priority: Int
    /// What the batch replays.
    package let replay: ReplayRequest?
    /// When what has no end yet expires, in milliseconds since 1970.
    package let deadline: Int64?
    /// Milliseconds since 1970.
    package let now: Int64

    package init(
        submitter: String,
        idempotencyKey: String?,
        content: Digest? = nil,
        name: String? = nil,
        runs: [SubmittedRun],
        priority: Int,
        replay: ReplayRequest? = nil,
        deadline: Int64? = nil,
        now: Int64
    ) {
        self.submitter = submitter
        self.idempotencyKey = idempotencyKey
        self.content = content
        self.name = name
        self.runs = runs
        self.priority = priority
        self.replay = replay
        self.deadline = deadline
        self.now = now
    }

    /// Every path in every case, on one system version of one platform.
    package init(
        submitter: String,
        idempotencyKey: String?,
        content: Digest? = nil,
        paths: [[Digest]],
        cases: [(name: String, digest: Digest)],
        os: OSPin,
        platform: Platform,
        repeats: Int,
        priority: Int,
        now: Int64
    ) {
        let runs = paths.flatMap { path in
            cases.map {
                SubmittedRun(
                    pins: Pins(path: path, caseName: $0.name, caseDigest: $0.digest, os: os, platform: platform),
                    repeats: repeats
                )
            }
        }
        self.init(
            submitter: submitter,
            idempotencyKey: idempotencyKey,
            content: content,
            runs: runs,
            priority: priority,
            now: now
        )
    }

    /// What is wrong with the submission itself; nil if nothing is.
    var problem: String? {
        if runs.isEmpty { return "it needs at least one path of builds, one case and one system version" }
        if runs.contains(where: { $0.pins.path.count < 2 }) {
            return "it needs paths of an old and a new build at least"
        }
        if let run = runs.first(where: { $0.repeats < 1 }) { return "repeats must be 1 or more, not \(run.repeats)" }
        let limit = Store.batchLimit
        var count = 0
        for run in runs {
            let (sum, isTooMany) = count.addingReportingOverflow(run.repeats)
            if isTooMany || sum > limit {
                return "\(runs.count) combinations with their repeats make more than the \(limit) runs of a batch"
            }
            count = sum
        }
        return nil
    }
}
