import Foundation

/// What the launch arguments ask the probe to do.
struct ProbeRequest: Equatable {
    var phase: ProbePhase
    var nonce: ProbeNonce?
    var epoch: Int?
    var expectedDigest: String?
    var create = false
    /// Seed bytes that no app can have written.
    var isMalformed = false
    var killAt: KeychainMigrationPoint?
    var preparation = ProbePreparation()
}

/// What a launch with phase `prepare` does.
struct ProbePreparation: Equatable {
    /// What the completion marker is made to say.
    enum Marker: Equatable {
        case version(Int)
        /// The version that this build knows.
        case own
        case cleared
    }

    var marker: Marker?
    var deletesTarget = false
    var deletesLegacy = false
    /// How many items are added that are not the migration's.
    var bystanders = 0
}

/// Launch arguments that the probe does not act on: nothing is touched, in the keychain or elsewhere.
struct ProbeArgumentError: Error, Equatable, CustomStringConvertible {
    /// The phase, if exactly one was asked for.
    var phase: ProbePhase?
    /// The nonce, if it was well formed.
    var nonce: ProbeNonce?
    /// What is wrong, naming the argument.
    var description: String
}

extension ProbeRequest {
    /// Reads launch arguments. Arguments that are not the probe's are the app's and are passed over.
    ///
    /// - Returns: nil when no argument is the probe's.
    /// - Throws: `ProbeArgumentError` when an argument of the probe is malformed, repeated, unknown or out of place.
    static func parse(_ arguments: [String]) throws(ProbeArgumentError) -> ProbeRequest? {
        var parser = ProbeArgumentParser()
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            parser.read(argument, &rest)
        }
        return try parser.request()
    }
}
