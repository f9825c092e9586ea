import BerthCore

/// A slot as its agent last reported it.
package struct SlotRecord: Sendable, Hashable {
    package let name: String
    package let host: String
    package let device: DeviceFacts
    package let features: [String]
    package let agentVersion: String
    /// The attempt that holds the slot.
    package let openAttempt: String?
}

/// An attempt that holds its slot.
package struct OpenAttempt: Sendable, Hashable {
    package let attempt: String
    package let run: String
    package let epoch: UInt64
    package let slot: String
    package let host: String
    package let state: AttemptState
    /// Milliseconds since 1970.
    package let assignedAt: Int64
    /// Its run is to be cancelled, which its agent may not know yet.
    package let isCancelRequested: Bool
}
