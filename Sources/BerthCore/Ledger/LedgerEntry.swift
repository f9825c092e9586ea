/// One ended attempt in a ledger (docs/formats.md). Entries are never changed or removed; each carries the digest of
/// the canonical bytes of the one before.
package struct LedgerEntry: Sendable, Hashable, Codable {
    /// 1
    package let format: Int
    package let ledger: DeviceKind
    /// From 1, without gaps.
    package let sequence: Int64
    /// Digest of the entry before; 64 zeros for the first.
    package let previous: Digest
    /// The coordinator's wall clock, milliseconds since 1970.
    package let recordedAt: Int64
    package let batch: String
    package let run: String
    package let attempt: String
    package let epoch: UInt64
    package let pins: Pins
    package let slot: String
    package let host: String
    /// Absent when the attempt was lost before its device was known.
    package let device: DeviceFacts?
    package let agentVersion: String?
    package let tools: [String: String]
    package let outcome: Outcome
    package let cause: OutcomeCause?
    package let checks: [CheckResult]
    /// The evidence manifest; absent for an attempt that left none.
    package let evidence: Digest?
    /// The agent's signature over the entry's `AttemptStatement`; absent when nobody vouches for the outcome: a lost
    /// attempt, or a report that the coordinator itself judged otherwise.
    package let signature: AgentSignature?
    /// Whether this entry decides its run. At most one entry of a run does.
    package let deciding: Bool
    /// What its run was for, if not for its own sake: `health-check` when it was to show whether a slot works again. Such
    /// an entry says nothing of the builds, and no gate counts it.
    package let purpose: String?

    package init(
        ledger: DeviceKind,
        sequence: Int64,
        previous: Digest,
        recordedAt: Int64,
        batch: String,
        run: String,
        attempt: String,
        epoch: UInt64,
        pins: Pins,
        slot: String,
        host: String,
        device: DeviceFacts?,
        agentVersion: String?,
        tools: [String: String],
        outcome: Outcome,
        cause: OutcomeCause?,
        checks: [CheckResult],
        evidence: Digest?,
        signature: AgentSignature? = nil,
        deciding: Bool,
        purpose: String? = nil
    ) {
        format = 1
        self.ledger = ledger
        self.sequence = sequence
        self.previous = previous
        self.recordedAt = recordedAt
        self.batch = batch
        self.run = run
        self.attempt = attempt
        self.epoch = epoch
        self.pins = pins
        self.slot = slot
        self.host = host
        self.device = device
        self.agentVersion = agentVersion
        self.tools = tools
        self.outcome = outcome
        self.cause = cause
        self.checks = checks
        self.evidence = evidence
        self.signature = signature
        self.deciding = deciding
        self.purpose = purpose
    }

    /// The purpose of health checks.
    package static let healthCheck = "health-check"

    /// What `previous` is in a ledger's first entry.
    package static let beginning = Digest(bytes: [UInt8](repeating: 0, count: 32))
}
