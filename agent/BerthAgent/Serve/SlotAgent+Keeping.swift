import BerthCore
import BerthSystem
import Synchronization

/// What the agent keeps for people, and what they order.
extension SlotAgent {
    /// What is kept now and why no attempt is taken. Blocks for as long as small files take.
    func lookAtKeeping() -> SlotKeeping {
        let driver = parts.execution.driver
        // While an attempt runs its device is not free anyhow, and nothing else stands in the way.
        let isRunning = state.withLock { $0.running != nil }
        return SlotKeeping(
            devices: driver.kept(),
            refusal: parts.manualWork.refusal ?? parts.state.trouble()?.refusal ?? (isRunning ? nil : driver.refusal()),
            places: parts.places
        )
    }

    /// Looks at what is kept, and tells of it at once if it has changed. Blocks likewise.
    func tellKeeping() {
        looking.withLock { _ in
            let keeping = lookAtKeeping()
            let isNews = state.withLock { state in
                defer { state.keeping = keeping }
                return state.keeping != keeping
            }
            if isNews { tick() }
        }
    }

    /// Whether no attempt is under way.
    var isIdle: Bool { state.withLock { $0.running == nil } }

    /// Writes what the journal has kept for its next record, and then empties a long file of results. Blocks.
    func settleJournal() {
        do {
            try parts.journal.catchUp()
            try parts.results.tidy()
        } catch {
            parts.state.note(error)
        }
    }

    /// The orders that have come since the last time.
    func takeReleases() -> [DeviceRelease] {
        state.withLock { state in
            defer { state.releases = [] }
            return state.releases
        }
    }

    /// Says what came of an order.
    func answer(_ order: DeviceRelease, _ refusal: OutcomeCause?) {
        Self.log.notice(
            refusal == nil ? "released a device" : "a device is not released",
            ["device": order.udid, "by": order.by, "cause": refusal.map { "\($0)" } ?? "none"]
        )
        // What is kept now goes before the answer, so that who hears of it finds the list as it says.
        tellKeeping()
        send(.released(DeviceReleased(request: order.request, udid: order.udid, refusal: refusal)))
    }
}
