import BerthArchive
import BerthCore
import CodeSignature
import Synchronization

/// What has been read of the builds in a host's cache, the last few of them. A build's ID is the digest of its manifest, so
/// what was read once holds for good.
package final class KnownBuilds: Sendable {
    private struct Known {
        let manifest: BuildManifest
        var identities: [String: CodeIdentity] = [:]
    }

    /// Longest manifest that is read, in bytes.
    static let manifestLimit = 32 << 20
    /// How many builds are remembered.
    private static let limit = 16

    /// Where the builds lie.
    package let cache: BlobDirectory
    private let known = Mutex<(builds: [Digest: Known], order: [Digest])>(([:], []))
    /// The files that tell of entitlements, of the last few paths.
    private let told = Mutex<[(key: EntitlementEvidence.Key, files: [(path: String, bytes: [UInt8])])]>([])

    package init(_ cache: BlobDirectory) {
        self.cache = cache
    }

    /// A build's manifest, which must be in the cache still. Blocks.
    /// - Throws: `ArchiveError`, `FormatError`, `SystemError`
    func manifest(_ build: Digest) throws -> BuildManifest {
        guard cache.contains(build) else { throw ArchiveError.missingBlob(build) }
        if let manifest = known.withLock({ $0.builds[build]?.manifest }) { return manifest }
        let manifest = try BuildManifest.parse(try cache.read(build, limit: Self.manifestLimit))
        known.withLock { known in
            if known.builds.updateValue(Known(manifest: manifest), forKey: build) == nil { known.order.append(build) }
            if known.order.count > Self.limit { known.builds[known.order.removeFirst()] = nil }
        }
        return manifest
    }

    /// What a build's executable says of itself. Blocks.
    /// - Throws: `ArchiveError`, `FormatError`, `SystemError`
    func identity(_ build: AssignedBuild) throws -> CodeIdentity {
        let executable = build.description.executable
        let manifest = try manifest(build.id)
        if let identity = known.withLock({ $0.builds[build.id]?.identities[executable] }) { return identity }
        let identity = try BundleSignature.read(manifest, executable: executable, in: cache)
        known.withLock { $0.builds[build.id]?.identities[executable] = identity }
        return identity
    }

    /// The files that tell of a path's entitlements: path to content.
    /// - Throws: `EncodingError`
    func files(_ evidence: EntitlementEvidence) throws -> [(path: String, bytes: [UInt8])] {
        let key = evidence.key
        if let files = told.withLock({ $0.first { $0.key == key }?.files }) { return files }
        let files = try evidence.files()
        told.withLock { told in
            told.append((key, files))
            if told.count > Self.limit { told.removeFirst() }
        }
        return files
    }
}
