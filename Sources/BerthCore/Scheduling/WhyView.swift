/// Why a run is where it is, slot by slot.
package struct RunWhyView: Sendable, Hashable, Codable {
    package let run: String
    package let state: RunState
    /// One sentence.
    package let summary: String
    /// How many runs go before it on slots that could take it; absent unless it waits.
    package let ahead: Int?
    package let slots: [SlotReasons]

    package init(run: String, state: RunState, summary: String, ahead: Int?, slots: [SlotReasons]) {
        self.run = run
        self.state = state
        self.summary = summary
        self.ahead = ahead
        self.slots = slots
    }
}

/// What keeps a run from a slot.
package struct SlotReasons: Sendable, Hashable, Codable {
    package let slot: String
    package let host: String
    /// Whether the slot satisfies what the run demands, whatever goes on there now.
    package let isMatch: Bool
    /// Empty when nothing does.
    package let reasons: [String]

    package init(slot: String, host: String, isMatch: Bool, reasons: [String]) {
        self.slot = slot
        self.host = host
        self.isMatch = isMatch
        self.reasons = reasons
    }
}

/// Why a slot idles or not.
package struct SlotWhyView: Sendable, Hashable, Codable {
    package let slot: String
    /// One sentence.
    package let summary: String
    /// Why it takes no run at all; empty if it would.
    package let reasons: [String]
    /// Runs that wait, by what keeps them from this slot, most first.
    package let waiting: [WaitingReason]

    package init(slot: String, summary: String, reasons: [String], waiting: [WaitingReason]) {
        self.slot = slot
        self.summary = summary
        self.reasons = reasons
        self.waiting = waiting
    }
}

/// Runs that wait for the same reason.
package struct WaitingReason: Sendable, Hashable, Codable {
    package let count: Int
    /// What keeps them from the slot; empty when they could go there.
    package let reasons: [String]

    package init(count: Int, reasons: [String]) {
        self.count = count
        self.reasons = reasons
    }
}
