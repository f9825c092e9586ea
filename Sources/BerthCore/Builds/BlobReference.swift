/// A blob by name and length.
package struct BlobReference: Sendable, Hashable, Codable {
    package let digest: Digest
    /// Bytes.
    package let size: Int64

    package init(digest: Digest, size: Int64) {
        self.digest = digest
        self.size = size
    }
}
