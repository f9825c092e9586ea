/// Which recorded runs shall run again with the same pins: exactly one of `run`, `batch` and `since` says so.
package struct ReplayRequest: Sendable, Hashable, Codable {
    package let run: String?
    package let batch: String?
    /// Runs whose attempts were recorded from this instant on, in milliseconds since 1970.
    package let since: Int64?
    /// With `since`: up to this instant, which is not included.
    package let until: Int64?
    /// With `since`: only from this ledger; otherwise from both.
    package let ledger: DeviceKind?
    /// Of the new runs; 0 if absent.
    package let priority: Int?
    /// When what has no end yet expires: what `Deadline` reads.
    package let deadline: String?

    package init(
        run: String? = nil,
        batch: String? = nil,
        since: Int64? = nil,
        until: Int64? = nil,
        ledger: DeviceKind? = nil,
        priority: Int? = nil,
        deadline: String? = nil
    ) {
        self.run = run
        self.batch = batch
        self.since = since
        self.until = until
        self.ledger = ledger
        self.priority = priority
        self.deadline = deadline
    }
}
