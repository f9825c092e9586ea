import BerthCore
import BerthSystem

/// What can be wrong with archived bytes or with a bundle that shall be archived.
package enum ArchiveError: Error, Hashable, CustomStringConvertible {
    /// The bytes under a digest's name have another digest.
    case damagedBlob(expected: Digest, actual: Digest, path: String)
    /// A pack of evidence whose first line does not say what follows.
    case damagedPack(path: String, problem: String)
    /// Bytes that were sent under a digest have another one.
    case digestMismatch(expected: Digest, actual: Digest)
    case missingBlob(Digest)
    /// A part of a blob came before what goes between it and what there is.
    case gap(Digest, have: UInt64, offset: UInt64)
    /// A blob is longer than was announced.
    case wrongSize(Digest, expected: Int64, actual: Int64)
    /// The path is no `.app` folder.
    case notABundle(path: String, problem: String)
    /// Something in a bundle cannot be archived.
    case unsupportedEntry(path: String, problem: String)
    /// The bundle's Info.plist is missing, damaged or incomplete.
    case infoPlist(problem: String)
    /// The executable that Info.plist names is missing or no program that the farm knows.
    case executable(name: String, problem: String)

    /// A stable word, part of the interface.
    package var code: String {
        switch self {
        case .damagedBlob: "damaged-blob"
        case .damagedPack: "damaged-pack"
        case .digestMismatch: "digest-mismatch"
        case .missingBlob: "missing-blob"
        case .gap: "gap-in-blob"
        case .wrongSize: "wrong-size"
        case .notABundle: "not-a-bundle"
        case .unsupportedEntry: "unsupported-entry"
        case .infoPlist: "damaged-info-plist"
        case .executable: "damaged-executable"
        }
    }

    package var description: String {
        switch self {
        case .damagedBlob(let expected, let actual, let path):
            "the blob \(expected) is damaged: its bytes have the digest \(actual) (\(path)); remove it and send it again"
        case .damagedPack(let path, let problem): "the pack of evidence \(path) is damaged: \(problem)"
        case .digestMismatch(let expected, let actual):
            "what was sent as \(expected) has the digest \(actual): it changed on the way or while it was read; send it again"
        case .missingBlob(let digest): "the blob \(digest) is not in the archive"
        case .gap(let digest, let have, let offset):
            "of the blob \(digest) there are \(have) bytes, so what begins at \(offset) does not follow; send it from there"
        case .wrongSize(let digest, let expected, let actual):
            "the blob \(digest) shall have \(expected) bytes, not \(actual)"
        case .notABundle(let path, let problem): "\(path) is no app bundle: \(problem)"
        case .unsupportedEntry(let path, let problem): "\(path) cannot be archived: \(problem)"
        case .infoPlist(let problem): "the bundle's Info.plist \(problem)"
        case .executable(let name, let problem): "the bundle's executable \(name) \(problem)"
        }
    }
}
