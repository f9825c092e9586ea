/// What a launch of the probe is for.
public enum ProbePhase: String, CaseIterable, Sendable {
    /// Write the item as this build writes it.
    case seed
    /// Run the app's migration and look what is there.
    case verify
    /// Bring marker and items into a state that a case starts from.
    case prepare
    /// Look what is there and touch nothing.
    case census
    /// Delete this attempt's items.
    case cleanup

    /// The launch argument that asks for the phase.
    public var argument: String {
        switch self {
        case .seed: "-UITestSeedLegacyKeychain"
        case .verify: "-UITestVerifyKeychainV2"
        case .prepare: "-BerthPrepare"
        case .census: "-BerthCensus"
        case .cleanup: "-BerthCleanUp"
        }
    }
}
