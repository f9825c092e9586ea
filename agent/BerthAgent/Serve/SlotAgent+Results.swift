import BerthCore
import BerthSystem
import Synchronization

/// From an attempt's end until the coordinator has its result.
extension SlotAgent {
    /// How long after a write that failed a result is written again.
    private static let pause: Duration = .milliseconds(500)
    /// How long an agent that ends waits for the coordinator to take a result that the disk does not.
    private static let patience: Duration = .seconds(2)

    /// Puts an attempt's signed report and its evidence on disk. For a device that is kept this is done while the device
    /// still is as the attempt left it: a start after the agent's death finds the report.
    /// - Throws: `SystemError`, `SigningKey.Failure`, `EncodingError`
    func write(_ result: KeptResult) async throws {
        let results = parts.results
        try await Threads.run(name: "keep result") { try results.keep(result) }
    }

    /// Keeps a result, journals it, frees the slot and begins to send it. While the disk does not take it the attempt
    /// stays the slot's, and the result is sent from memory: it is over when either the disk or the coordinator has it.
    /// - Throws: `SigningKey.Failure`, `EncodingError`, `DiskTrouble` when the agent ends before that
    func keep(_ result: KeptResult) async throws {
        let report = result.report
        let reference = AttemptReference(attempt: report.attempt, epoch: report.epoch)
        let trouble = try await Threads.run(name: "keep result") { [self] () -> DiskTrouble? in
            do {
                try parts.results.keep(result)
            } catch let error as SystemError {
                let trouble = DiskTrouble(error)
                Self.log.error(
                    "a result cannot be written and is sent from memory",
                    ["attempt": report.attempt, "outcome": report.outcome.rawValue, "cause": "\(trouble)"]
                )
                parts.state.note(error)
                parts.results.hold(result)
                return trouble
            }
            // A start that does not find this record finds the result. Only of a kept device people may decide meanwhile.
            parts.journal.remember(.result(reference, report.outcome), withNext: report.preservedDevice == nil)
            end(reference, report)
            return nil
        }
        guard let trouble else { return }
        try await deliverHeld(reference, trouble)
        try await Threads.run(name: "end attempt") { self.end(reference, report) }
    }

    /// An attempt's result is with the disk or the coordinator: the slot is free, and the result is sent. Blocks.
    private func end(_ reference: AttemptReference, _ report: AttemptReport) {
        parts.execution.driver.evidenceIsSafe(of: report.attempt)
        let sender = state.withLock { state in
            if state.running?.reference == reference {
                state.running = nil
                state.lease.end()
            }
            return state.channel?.sender
        }
        // Before the result: the next attempt is not to be offered to a slot that takes none.
        tellKeeping()
        Self.log.notice(
            "ended",
            [
                "attempt": report.attempt, "outcome": report.outcome.rawValue,
                "cause": report.cause?.code ?? "none", "preserved": report.preservedDevice ?? "none",
            ]
        )
        // What the coordinator has acknowledged by now is not sent again.
        if parts.journal.state.unacknowledged.contains(reference) { sender?.add(reference) }
    }

    /// Returns when a result that is held in memory is on disk or acknowledged.
    private func deliverHeld(_ reference: AttemptReference, _ trouble: DiskTrouble) async throws {
        try await Threads.run(name: "tell of the disk") { self.tellKeeping() }
        state.withLock { $0.channel?.sender }?.add(reference)
        var stopping: ContinuousClock.Instant?
        while parts.results.held(reference) != nil {
            if state.withLock({ $0.isStopping }) {
                let since = stopping ?? .now
                stopping = since
                guard ContinuousClock.now < since + Self.patience else {
                    Self.log.error("a result is lost with the agent", ["attempt": reference.attempt])
                    throw trouble
                }
            }
            try await Task.sleep(for: Self.pause)
            try await Threads.run(name: "write held result") { self.writeHeld(reference) }
        }
    }

    private func writeHeld(_ reference: AttemptReference) {
        // Not while an acknowledgement is worked off.
        decisions.withLock { _ in
            guard let report = parts.results.held(reference) else { return }
            do {
                try parts.results.writeHeld(reference)
                parts.journal.remember(.result(reference, report.outcome))
                Self.log.notice("a held result is on disk", ["attempt": reference.attempt])
            } catch {
                parts.state.note(error)
            }
        }
    }

    /// The coordinator has a result.
    func recorded(_ acknowledgement: Acknowledgement) {
        let reference = AttemptReference(attempt: acknowledgement.attempt, epoch: acknowledgement.epoch)
        let isKnown = decisions.withLock { _ in
            if let report = parts.results.held(reference) {
                parts.journal.remember(.result(reference, report.outcome))
            }
            guard parts.journal.state.unacknowledged.contains(reference) else { return false }
            // A start that does not find this record sends the result once more.
            parts.journal.remember(.acknowledged(reference, acknowledgement.filing), withNext: true)
            parts.results.forget(reference)
            if parts.results.isLong || parts.journal.isLong { settleJournal() }
            return true
        }
        guard isKnown else { return }
        Self.log.info(
            "acknowledged",
            ["attempt": acknowledgement.attempt, "filing": acknowledgement.filing.rawValue]
        )
        state.withLock { $0.channel?.sender }?.acknowledged(reference)
    }

    /// All results that a new channel's coordinator may lack.
    var undelivered: [AttemptReference] {
        let written = parts.journal.state.unacknowledged
        guard let running = state.withLock({ $0.running?.reference }), !written.contains(running),
            parts.results.held(running) != nil
        else { return written }
        return written + [running]
    }
}
