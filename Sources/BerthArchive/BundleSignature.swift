import BerthCore
import BerthSystem
import CodeSignature

/// Reads what an archived bundle is entitled to: from its executable where that is a Mach-O, otherwise from the file that
/// bundles for simulated devices carry.
package enum BundleSignature {
    /// Longest file with entitlements, in bytes.
    private static let fileLimit = 1 << 20
    /// Where a bundle for simulated devices keeps its entitlements.
    private static let fileName = "archived-expanded-entitlements.xcent"

    /// Reads a bundle's identity. What cannot be read is noted, so that a person learns of it; the build stays usable.
    /// - Throws: `ArchiveError`, `SystemError`
    package static func read(
        _ manifest: BuildManifest,
        executable: String,
        in blobs: BlobDirectory
    ) throws -> CodeIdentity {
        let program = manifest.entries.first { $0.path == executable && $0.type == .file }
        do {
            guard let digest = program?.digest, let size = program?.size.flatMap({ UInt64(exactly: $0) }),
                MachOFile.begins(try blobs.read(digest, offset: 0, count: 4))
            else { return try file(of: manifest, in: blobs) }
            let source = ByteSource(size: size) { try blobs.read(digest, offset: $0, count: $1) }
            return try CodeIdentity(executable: source)
        } catch let error as CodeSignatureError {
            let note = "the entitlements cannot be read: \(error)"
            return CodeIdentity(entitlements: nil, source: nil, isUnreadable: true, notes: [note])
        }
    }

    private static func file(of manifest: BuildManifest, in blobs: BlobDirectory) throws -> CodeIdentity {
        guard let digest = manifest.entries.first(where: { $0.path == fileName && $0.type == .file })?.digest else {
            return CodeIdentity(entitlements: nil, source: nil)
        }
        let bytes = try blobs.read(digest, limit: fileLimit)
        let value = try XMLPropertyList.read(ByteWindow(bytes: bytes, origin: 0))
        guard case .dictionary = value else {
            throw CodeSignatureError.malformed(offset: 0, problem: "the entitlements are no dictionary")
        }
        return CodeIdentity(entitlements: value, source: .file, signedEntitlements: value)
    }
}

extension BuildSigning {
    /// Longest entitlements that are stored, in bytes: the description of a build travels with every attempt.
    private static let entitlementLimit = 64 << 10

    /// What is stored of a bundle's identity.
    package init(_ identity: CodeIdentity) {
        let text = identity.entitlements?.xml
        let isTooLong = (text?.utf8.count ?? 0) > Self.entitlementLimit
        let omission = "the entitlements are longer than \(Self.entitlementLimit) bytes and are left out"
        self.init(
            identifier: identity.identifier,
            teamIdentifier: identity.teamIdentifier,
            source: identity.source?.rawValue,
            accessGroups: identity.accessGroups,
            entitlements: isTooLong ? nil : text,
            notes: identity.notes + (isTooLong ? [omission] : [])
        )
    }
}
