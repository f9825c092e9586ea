/// Asks which blobs the archive lacks.
package struct BlobList: Sendable, Hashable, Codable {
    package let blobs: [BlobReference]

    package init(blobs: [BlobReference]) {
        self.blobs = blobs
    }
}

/// The blobs that it lacks.
package struct MissingList: Sendable, Hashable, Codable {
    package let missing: [Digest]

    package init(missing: [Digest]) {
        self.missing = missing
    }
}

/// Makes a build of a manifest whose blobs are archived.
package struct BuildRequest: Sendable, Hashable, Codable {
    /// The manifest's own digest: it was sent as a blob.
    package let manifest: Digest

    package init(manifest: Digest) {
        self.manifest = manifest
    }
}
