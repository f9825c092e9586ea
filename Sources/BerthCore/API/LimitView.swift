/// Sets or lifts a limit.
package struct LimitRequest: Sendable, Hashable, Codable {
    package let subject: RunLimit.Subject
    /// The submitter's name, or the label as `key:value`.
    package let name: String
    /// Slots that may be held at once, from 0; absent lifts the limit.
    package let most: Int?

    package init(subject: RunLimit.Subject, name: String, most: Int?) {
        self.subject = subject
        self.name = name
        self.most = most
    }
}

/// A limit with what is used of it.
package struct LimitView: Sendable, Hashable, Codable {
    package let subject: RunLimit.Subject
    package let name: String
    package let most: Int
    /// Slots that are held now.
    package let open: Int

    package init(_ used: UsedLimit) {
        subject = used.limit.subject
        name = used.limit.name
        most = used.limit.most
        open = used.open
    }
}
