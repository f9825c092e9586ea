/// The judgement over the attempts of a run.
package enum RunVerdict: String, Sendable, Hashable, Codable, CaseIterable {
    case passed
    case failed
    /// Same pins, differing outcomes among passed and failed.
    case flaky
    /// Attempts ended without proof and the retries are used up.
    case unproven
    case cancelled
    case expired
}
