/// What a launch of the probe is for.
public enum ProbePhase: String, CaseIterable, Sendable {
    /// Write the item as this build writes it.
    case seed
    /// Run the app's migration and look what is there.
    case verify
    /// Delete this attempt's items.
    case cleanup

    /// The launch argument that asks for the phase.
    public var argument: String {
        switch self {
        case .seed: "-UITestSeedLegacyKeychain"
        case .verify: "-UITestVerifyKeychainV2"
        case .cleanup: "-BerthCleanUp"
        }
    }
}
