import BerthCore
import BerthSystem

/// Judges what a farm did under faults from the devices' own logs, the ledgers and the archive alone. A value without a
/// clock; whoever makes it reads the archive for it.
package struct FaultCheck: Sendable {
    /// What must never happen.
    package enum Rule: String, Sendable, CaseIterable {
        /// Two holders used a device at once.
        case overlap
        /// A device was touched under an epoch below one that it had seen.
        case staleTouch = "stale touch"
        /// An attempt began twice.
        case repeatedAttempt = "repeated attempt"
        /// Two attempts of one run were under way at the same time.
        case concurrentRun = "concurrent run"
        /// A device was touched for an attempt after the ledger had recorded that attempt's end.
        case lateTouch = "late touch"
        /// A ledger does not verify, or records something twice.
        case doubledResult = "doubled result"
        /// A submitted run has no end in the ledger.
        case lostResult = "lost result"
        /// An attempt's result was on its agent's disk and is gone.
        case forgottenResult = "forgotten result"
        /// What a deciding entry names as its evidence is not in the archive, or is not what it was.
        case missingEvidence = "missing evidence"
        /// The ledger tells of an attempt that its device knows nothing of.
        case inventedResult = "invented result"
        /// Runs were executed again more often than faults explain.
        case excessRepeats = "excess repeats"
        /// A line of a device's log that is none.
        case unreadable
        /// The harness could not do its own part: nothing is proven.
        case harness
    }

    package struct Violation: Sendable, Hashable, CustomStringConvertible {
        package let rule: Rule
        package let words: String

        package var description: String { "\(rule.rawValue): \(words)" }
    }

    package struct Finding: Sendable {
        package var violations: [Violation] = []
        package var touches = 0
        package var attempts = 0
        package var runs = 0
        package var entries = 0
        /// Attempts whose results were on their agents' disks.
        package var kept = 0
        /// Files of evidence that were asked for in the archive.
        package var blobs = 0
        /// Executions that decided nothing.
        package var repeats = 0
        /// Attempts that faults met.
        package var hits = 0

        package func count(_ rules: Rule...) -> Int { violations.count { rules.contains($0.rule) } }
        package var repeatsPerHit: Double { hits == 0 ? Double(repeats) : Double(repeats) / Double(hits) }
    }

    /// How many attempts without proof end a run.
    private static let attemptLimit = 3
    /// How far a touch's wall clock may be behind the ledger's, in milliseconds: both clocks are read to the millisecond.
    private static let clockSlack: Int64 = 2

    /// The lines of each device's log, in their order.
    let logs: [String: [Touch]]
    /// The canonical bytes of each ledger's entries.
    let ledgers: [DeviceKind: [[UInt8]]]
    let submitted: Set<String>
    let disturbances: [Disturbance]
    /// The lease's length, in nanoseconds.
    let lease: Int64
    /// The wall clocks of agents and coordinator were off by multiples of so many milliseconds, more than the storm
    /// lasted; 0: they were not.
    let clockStep: Int64
    /// The bytes of a file in the evidence under a manifest; throws when the archive does not have them. Absent: evidence
    /// is not asked for.
    let archive: (@Sendable (_ file: Digest, _ manifest: Digest) throws -> [UInt8])?

    package init(
        logs: [String: [Touch]],
        ledgers: [DeviceKind: [[UInt8]]],
        submitted: Set<String>,
        disturbances: [Disturbance],
        lease: Int64,
        clockStep: Int64 = 0,
        archive: (@Sendable (_ file: Digest, _ manifest: Digest) throws -> [UInt8])? = nil
    ) {
        self.logs = logs
        self.ledgers = ledgers
        self.submitted = submitted
        self.disturbances = disturbances
        self.lease = lease
        self.clockStep = clockStep
        self.archive = archive
    }

    package func judge() -> Finding {
        var finding = Finding()
        finding.runs = submitted.count
        let spans = judgeDevices(&finding)
        let entries = readLedgers(&finding)
        judgeRuns(entries, &finding)
        judgeEntries(entries, spans, &finding)
        judgeConcurrency(spans, &finding)
        judgeKept(entries, spans, &finding)
        judgeEvidence(entries, &finding)
        judgeRepeats(entries, spans, &finding)
        return finding
    }

    /// One attempt as its device saw it.
    struct Span {
        let device: String
        let run: String
        let attempt: String
        let epoch: UInt64
        let first: Int64
        /// When the first touch was decided: a fault can meet an attempt between this and the touch.
        var firstDecided: Int64
        var last: Int64
        /// When the last touch was decided that was more than putting the device away.
        var lastDecided: Int64
        var preparations = 0
        var isSettled = false
        /// Its result was on the agent's disk.
        var isKept = false
    }

    /// The continuous clock less the wall clock of the machine, in milliseconds: the touches carry both.
    private var offset: Int64 {
        // The time between looking at the one and the other only makes it smaller.
        logs.values.lazy.flatMap { $0 }.map { $0.at / 1_000_000 - $0.wall }.max() ?? 0
    }

    /// When an entry was recorded, in milliseconds by the machine's wall clock, however far off the coordinator's was.
    private func recordedAt(_ entry: LedgerEntry, near moment: Int64) -> Int64 {
        guard clockStep > 0 else { return entry.recordedAt }
        let off = entry.recordedAt - moment
        return entry.recordedAt - Int64((Double(off) / Double(clockStep)).rounded()) * clockStep
    }

    // MARK: The ledgers

    private func readLedgers(_ finding: inout Finding) -> [LedgerEntry] {
        var all: [LedgerEntry] = []
        for (kind, bytes) in ledgers.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            do {
                _ = try LedgerChain.verify(
                    bytes,
                    of: kind,
                    digest: { Digest(bytes: SHA256.digest(of: $0)) },
                    isSigned: { Self.isSigned($0, $1) }
                )
            } catch {
                finding.violations.append(Violation(rule: .doubledResult, words: "\(kind.rawValue): \(error)"))
            }
            for part in bytes {
                guard let entry = try? CanonicalJSON.decode(LedgerEntry.self, from: part, document: "entry") else {
                    continue
                }
                all.append(entry)
            }
        }
        finding.entries = all.count
        return all
    }

    private static func isSigned(_ signature: AgentSignature, _ bytes: [UInt8]) -> Bool {
        guard let key = Hex.decode(signature.key), let value = Hex.decode(signature.signature) else { return false }
        return SigningKey.isValid(value, of: bytes, publicBytes: key)
    }

    private func judgeRuns(_ entries: [LedgerEntry], _ finding: inout Finding) {
        var decided: Set<String> = []
        var undecided: [String: Int] = [:]
        for entry in entries {
            if entry.deciding { decided.insert(entry.run) } else { undecided[entry.run, default: 0] += 1 }
        }
        for run in submitted.sorted() where !decided.contains(run) && undecided[run, default: 0] < Self.attemptLimit {
            finding.violations.append(
                Violation(
                    rule: .lostResult,
                    words: "\(run) has no verdict, \(undecided[run, default: 0]) attempts ended"
                )
            )
        }
    }

    private func judgeEntries(_ entries: [LedgerEntry], _ spans: [String: Span], _ finding: inout Finding) {
        let offset = offset
        for entry in entries {
            let span = spans[entry.attempt]
            if entry.deciding, span?.run != entry.run || span?.epoch != entry.epoch || span?.isSettled != true {
                finding.violations.append(
                    Violation(
                        rule: .inventedResult,
                        words:
                            "\(entry.attempt) of \(entry.run) \(entry.outcome.rawValue) at epoch \(entry.epoch), its device says "
                            + (span.map { "\($0.run), epoch \($0.epoch), settled \($0.isSettled)" } ?? "nothing")
                    )
                )
            }
            guard let span else { continue }
            let decided = span.lastDecided / 1_000_000 - offset
            let recordedAt = recordedAt(entry, near: decided)
            guard decided > recordedAt + Self.clockSlack else { continue }
            finding.violations.append(
                Violation(
                    rule: .lateTouch,
                    words: "\(span.device) was touched for \(entry.attempt) \(decided - recordedAt) ms after the "
                        + "ledger had it as \(entry.outcome.rawValue) (\(entry.cause?.code ?? "no cause"))"
                )
            )
        }
    }

    /// Every execution that decided nothing must have been met by a fault: by a kill, or by faults that together lasted
    /// half a lease while it was under way.
    private func judgeRepeats(_ entries: [LedgerEntry], _ spans: [String: Span], _ finding: inout Finding) {
        let ends = Dictionary(entries.map { ($0.attempt, $0) }, uniquingKeysWith: { first, _ in first })
        let offset = offset
        var unexplained: [String] = []
        for span in spans.values.sorted(by: { $0.attempt < $1.attempt }) {
            let entry = ends[span.attempt]
            let recorded = entry.map {
                (recordedAt($0, near: span.last / 1_000_000 - offset) + offset) * 1_000_000
            }
            let end = max(span.last, recorded ?? span.last)
            let isHit = isHit(span, until: end)
            if isHit { finding.hits += 1 }
            guard entry?.deciding != true else { continue }
            finding.repeats += 1
            if !isHit {
                unexplained.append("\(span.attempt) on \(span.device): \(entry?.cause?.code ?? "no entry")")
            }
        }
        guard
            Double(finding.repeats) > Double(finding.hits) * 1.05
                || Double(unexplained.count) > Double(finding.hits) * 0.05
        else { return }
        finding.violations.append(
            Violation(
                rule: .excessRepeats,
                words: "\(finding.repeats) repeats for \(finding.hits) attempts that faults met; met by none: "
                    + unexplained.prefix(10).joined(separator: ", ")
            )
        )
    }

    private func isHit(_ span: Span, until end: Int64) -> Bool {
        var lasted: Int64 = 0
        for disturbance in disturbances where disturbance.devices.contains(span.device) {
            let (from, to) = (max(disturbance.from, span.firstDecided), min(disturbance.to, end))
            guard from <= to else { continue }
            if disturbance.isFatal { return true }
            lasted += to - from
        }
        return lasted >= lease / 2
    }
}
