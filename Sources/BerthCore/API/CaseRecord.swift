/// A case as the API shows it.
package struct CaseRecord: Sendable, Hashable, Codable {
    /// Of the canonical bytes; runs pin it.
    package let digest: Digest
    package let definition: CaseDefinition
    /// Whether every farm knows it.
    package let isBuiltIn: Bool
    /// Milliseconds since 1970.
    package let addedAt: Int64

    package init(digest: Digest, definition: CaseDefinition, isBuiltIn: Bool, addedAt: Int64) {
        self.digest = digest
        self.definition = definition
        self.isBuiltIn = isBuiltIn
        self.addedAt = addedAt
    }
}
