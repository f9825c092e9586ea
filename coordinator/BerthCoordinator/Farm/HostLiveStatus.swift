import BerthCore

/// What the coordinator that holds a host knows of it now, as it leaves it in the store for the others.
struct HostLiveStatus: Codable, Sendable {
    /// The same of a slot.
    struct Slot: Codable, Sendable {
        let isConnected: Bool
        let keeping: SlotKeeping?
        let offlineSince: Int64?
        /// Why something that its agent said is not written down.
        var trouble: OutcomeCause?
    }

    let state: HostView.State
    let problem: String?
    let clockSkew: Int64?
    let nextTry: Int64?
    let slots: [String: Slot]
}
