import BerthCore

/// A slot whose agent is connected, or was.
struct SlotSession: Sendable {
    let name: String
    let host: String
    /// Absent while the agent is not connected.
    var link: HostLink?
    /// What its agent said of it last.
    var hello: AgentHello
    var device: DeviceFacts { hello.device }
    /// Whether the store has taken that down. Until then the agent's heartbeats are answered, and it gets no work.
    var isRecorded = false
    /// A claim or a transfer is under way.
    var dispatching = false
    /// How many attempts the agent has declined in a row.
    var declines = 0
    /// No claim before this instant, after the agent declined.
    var pausedUntil: ContinuousClock.Instant?
    /// What the agent keeps and why it takes no attempt, as it said last; nil when it says nothing of the kind.
    var keeping: SlotKeeping?
    /// Since when it is not connected, in milliseconds since 1970.
    var offlineSince: Int64?
    /// An attempt of which the agent says that it executes it, while the store is asked about it.
    var lookedAfter: AttemptReference?
    /// Why something that the agent said is not written down.
    var problem: OutcomeCause?
    /// How often in a row the agent is asked again for what it said.
    var asks = 0
    /// When it is asked again.
    var askAt: ContinuousClock.Instant?
}

/// An attempt that holds a slot, with the end of its lease.
struct OpenLease: Sendable {
    let attempt: String
    let run: String
    let epoch: UInt64
    let slot: String
    let host: String
    let claimed: ContinuousClock.Instant
    var accepted: Bool
    /// The slot is granted again after this instant.
    var deadline: ContinuousClock.Instant
    /// Its result has come and is not recorded yet, for no fault of its agent.
    var resultWaits = false
    /// How often its result has come without its evidence.
    var resultsWithoutEvidence = 0
    /// The step being executed.
    var progress: String?
    /// Whether its agent may have been told of it, now or by an earlier coordinator.
    var isOffered = true
    /// Whether a delivery was cut off, so that the same attempt is to be offered again once its slot is there.
    var needsDelivery = false
    /// Why it must be called off, once it must.
    var cancellation: String?
}
