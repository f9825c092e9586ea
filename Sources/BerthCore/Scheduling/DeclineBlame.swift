/// Who is to blame when an agent declines an assignment.
package enum DeclineBlame {
    /// Causes that say nothing against the slot: it has something else to do, a person holds it or its disk takes nothing,
    /// which its agent says by itself until it is over, or the coordinator asked for what cannot be.
    private static let others: Set<String> = [
        "busy", "lease-over", "cancelled", "device-cleaning", "manual-work", "preserved-budget-full", "device-held",
        "quarantined", "not-clean", "disk-full", "state-unwritable", "journal-unwritable", "stale-epoch",
        "malformed-assignment", "case-mismatch",
    ]

    /// Whether it speaks against the slot, so that too many in a row take it out of use.
    package static func isSlots(_ cause: OutcomeCause) -> Bool { !others.contains(cause.code) }
}
