import Foundation
import Security

/// Why a migration stopped. It never carries a value: what cannot be put in cannot leak (D2).
public struct KeychainMigrationFailure: Error, Equatable, Sendable {
    /// What went wrong with a step.
    public enum Cause: Equatable, Sendable {
        /// The keychain answered with a failure.
        case status(OSStatus)
        /// The item is there in its new form with other content than the old one; nothing was deleted.
        case contentDiffers
        /// The old item's value is not what this app can have written; it was kept as it is (M4).
        case malformed
        /// The two contracts cannot be told apart: the target needs an access group, as the legacy one has it.
        case ambiguousContracts
    }

    /// Where the migration stopped.
    public var step: KeychainMigrationStep
    /// Why it stopped.
    public var cause: Cause

    /// A failure of `step` for the given cause.
    public init(step: KeychainMigrationStep, cause: Cause) {
        self.step = step
        self.cause = cause
    }

    /// The keychain's answer, or the OSStatus that comes nearest to a cause of another kind.
    public var status: OSStatus {
        switch cause {
        case .status(let status): status
        case .contentDiffers: errSecDuplicateItem
        case .malformed: errSecDecode
        case .ambiguousContracts: errSecParam
        }
    }
}

extension KeychainMigrationFailure: CustomStringConvertible {
    /// What happened, at which step, and what to look at.
    public var description: String {
        switch cause {
        case .status(let status):
            "\(step.rawValue) answered OSStatus \(status); the old item was not deleted. "
                + "Compare entitlements and the five contract fields of both builds"
        case .contentDiffers:
            "\(step.rawValue): the new item's content differs from the old item's; both were kept"
        case .malformed:
            "\(step.rawValue): the old item's content is malformed; it was kept as it is"
        case .ambiguousContracts:
            "the contracts have the same service and account, and the target names no access group; give it one"
        }
    }
}
