/// What the launch arguments ask for.
struct Request {
    let phase: String
    let nonce: String
    let epoch: UInt64?

    init(_ arguments: some Sequence<String>) {
        let arguments = Array(arguments)
        func value(_ name: String) -> String? {
            guard let index = arguments.firstIndex(of: name), index + 1 < arguments.count else { return nil }
            return arguments[index + 1]
        }
        phase =
            arguments.contains("-UITestSeedLegacyKeychain")
            ? "seed" : arguments.contains("-UITestVerifyKeychainV2") ? "verify" : "cleanup"
        nonce = value("-BerthNonce") ?? ""
        epoch = value("-BerthEpoch").flatMap { UInt64($0) }
    }
}
