/// The parts of `ops/bench faults`.
package enum FaultForm: String, Sendable, CaseIterable {
    /// All faults at once, by a seed.
    case storm
    /// Ten thousand runs while agents and the coordinator are killed.
    case results
    /// The coordinator killed with 500 runs in flight and 5,000 queued.
    case adoption
    /// Pauses and distance that are no deaths, and deaths.
    case deaths
    /// The hosts of a killed coordinator taken over by another one.
    case failover

    /// Makes options for a storm of this form; others have a shape of their own.
    package func shape(_ options: inout FaultOptions) {
        guard self == .results else { return }
        options.mix = .kills
        options.runs = options.runs ?? 10_000
        // Somewhat more than the tenth that is claimed, so that chance does not decide whether it is one.
        options.lostReplies = 110
        options.lostMessages = 110
        // As shipped: no attempt ends because its host was away for a moment.
        options.leaseSeconds = 15
        options.seconds = 3000
    }

    /// Measures; for all but storms.
    /// - Parameter options: products, sources and where words go.
    /// - Returns: the figures.
    /// - Throws: when the farm cannot be set up, or does not do its work
    package func measure(_ options: FaultOptions) async throws -> [FaultResult] {
        switch self {
        case .storm, .results: []
        case .adoption: try await AdoptionMeasurement.run(options)
        case .deaths: try await DeathMeasurement.run(options)
        case .failover: try await FailoverMeasurement.run(options)
        }
    }
}
