/// Holds a slot ahead of time for one batch or for runs with one label.
package struct ReservationRequest: Sendable, Hashable, Codable {
    package let slot: String
    /// The batch's ID. Exactly one of it and `label` is given.
    package let batch: String?
    /// As `key:value`.
    package let label: String?
    /// When it ends by itself: what `Deadline` reads.
    package let until: String
    package let reason: String

    package init(slot: String, batch: String? = nil, label: String? = nil, until: String, reason: String) {
        self.slot = slot
        self.batch = batch
        self.label = label
        self.until = until
        self.reason = reason
    }
}
