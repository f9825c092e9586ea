/// An archived build as the API shows it.
package struct BuildRecord: Sendable, Hashable, Codable {
    package let id: Digest
    package let description: BuildDescription
    /// Bytes of all files.
    package let size: Int64
    /// Milliseconds since 1970.
    package let archivedAt: Int64

    package init(id: Digest, description: BuildDescription, size: Int64, archivedAt: Int64) {
        self.id = id
        self.description = description
        self.size = size
        self.archivedAt = archivedAt
    }
}
