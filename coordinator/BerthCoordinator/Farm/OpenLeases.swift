/// The attempts that hold slots, found by attempt or by slot.
struct OpenLeases {
    private var byAttempt: [String: OpenLease] = [:]
    private var attemptBySlot: [String: String] = [:]

    /// The lease of an attempt.
    subscript(attempt: String) -> OpenLease? {
        get { byAttempt[attempt] }
        set {
            if let old = byAttempt[attempt], attemptBySlot[old.slot] == attempt { attemptBySlot[old.slot] = nil }
            byAttempt[attempt] = newValue
            if let newValue { attemptBySlot[newValue.slot] = attempt }
        }
    }

    /// The lease that holds a slot.
    func of(slot: String) -> OpenLease? { attemptBySlot[slot].flatMap { byAttempt[$0] } }

    /// All leases, in no order.
    var all: some Collection<OpenLease> { byAttempt.values }
}
