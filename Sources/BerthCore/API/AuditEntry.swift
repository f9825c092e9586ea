/// One thing that somebody did to the farm. Entries are written with what they tell of, and never changed.
package struct AuditEntry: Sendable, Hashable, Codable {
    /// From 1, in the order in which things were done; numbers may be missing.
    package let number: Int64
    /// Milliseconds since 1970.
    package let at: Int64
    /// The token's name, or `the scheduler`.
    package let actor: String
    /// A word such as `host-key-trusted` (docs/api.md).
    package let action: String
    /// What it was done to, such as `host alpha`.
    package let subject: String
    /// Particulars by name, such as `oldFingerprint`.
    package let details: [String: String]

    package init(
        number: Int64,
        at: Int64,
        actor: String,
        action: String,
        subject: String,
        details: [String: String]
    ) {
        self.number = number
        self.at = at
        self.actor = actor
        self.action = action
        self.subject = subject
        self.details = details
    }

    /// How many entries one answer of the API has at most.
    package static let pageLimit = 1000
}
