/// What a migration says of itself. The farm reports it and believes none of it (C5): the probe reads for itself.
public struct KeychainMigrationClaim: Equatable, Sendable {
    /// How the migration ended.
    public var outcome: KeychainMigrationOutcome
    /// Whether the migration changed anything in the keychain.
    public var wrote: Bool
    /// Why it failed, if it did.
    public var failure: KeychainMigrationFailure?
    /// What was done, in order.
    public var steps: [KeychainStepRecord]

    /// A claim of the given parts; an app with a migration of its own need not list its steps.
    public init(
        outcome: KeychainMigrationOutcome,
        wrote: Bool,
        failure: KeychainMigrationFailure? = nil,
        steps: [KeychainStepRecord] = []
    ) {
        self.outcome = outcome
        self.wrote = wrote
        self.failure = failure
        self.steps = steps
    }
}
