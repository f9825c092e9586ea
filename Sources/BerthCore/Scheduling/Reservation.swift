/// A hold on a slot ahead of time: until it ends, only its holder's runs are assigned there.
package struct Reservation: Sendable, Hashable, Codable {
    /// Such as `v-3`.
    package let id: String
    package let slot: String
    /// The batch that may use the slot, or absent.
    package let batch: String?
    /// Or the label that runs must ask for, as `key:value`.
    package let label: String?
    /// When it ends by itself, in milliseconds since 1970.
    package let until: Int64
    package let reason: String
    /// Who made it.
    package let actor: String

    package init(
        id: String,
        slot: String,
        batch: String?,
        label: String?,
        until: Int64,
        reason: String,
        actor: String
    ) {
        self.id = id
        self.slot = slot
        self.batch = batch
        self.label = label
        self.until = until
        self.reason = reason
        self.actor = actor
    }

    /// For whom it is, in words.
    package var holder: String { batch.map { "batch \($0)" } ?? "runs with label \(label ?? "")" }
}
