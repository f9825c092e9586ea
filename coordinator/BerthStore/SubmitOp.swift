import BerthCore

/// A submission with everything resolved to pins: what `Store.submit` takes.
package struct SubmitOp: Sendable {
    package let submitter: String
    /// A repeat under the same key gives the batch that the first submission made.
    package let idempotencyKey: String?
    /// What the key stands for, such as the digest of the request's bytes. Absent: the pins themselves, so that a
    /// repeat conflicts when `latest` has come to mean another version since.
    package let content: Digest?
    /// Paths of builds.
    package let paths: [[Digest]]
    package let cases: [(name: String, digest: Digest)]
    package let os: OSPin
    package let platform: Platform
    /// From 1.
    package let repeats: Int
    /// Higher goes first.
    package let priority: Int
    /// Milliseconds since 1970.
    package let now: Int64

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
        self.submitter = submitter
        self.idempotencyKey = idempotencyKey
        self.content = content
        self.paths = paths
        self.cases = cases
        self.os = os
        self.platform = platform
        self.repeats = repeats
        self.priority = priority
        self.now = now
    }

    /// The pins of every run but for repeats, in the order in which they are queued.
    var pins: [Pins] {
        paths.flatMap { path in
            cases.map { Pins(path: path, caseName: $0.name, caseDigest: $0.digest, os: os, platform: platform) }
        }
    }

    /// What is wrong with the submission itself; nil if nothing is.
    var problem: String? {
        if paths.isEmpty || paths.contains(where: { $0.count < 2 }) {
            return "it needs at least one path of an old and a new build"
        }
        if cases.isEmpty { return "it needs at least one case" }
        if repeats < 1 { return "repeats must be 1 or more, not \(repeats)" }
        let limit = Store.batchLimit
        let (pairs, tooManyPairs) = paths.count.multipliedReportingOverflow(by: cases.count)
        let (runs, tooManyRuns) = pairs.multipliedReportingOverflow(by: repeats)
        if tooManyPairs || tooManyRuns || runs > limit {
            return
                "\(paths.count) paths, \(cases.count) cases and \(repeats) repeats make more than the \(limit) runs "
                + "that a batch may have"
        }
        return nil
    }
}
