/// How many runs of a submitter, or with a label, may hold slots at once.
package struct RunLimit: Sendable, Hashable, Codable {
    package enum Subject: String, Sendable, Hashable, Codable {
        case submitter
        case label
    }

    package let subject: Subject
    /// The submitter's name, or the label as `key:value`.
    package let name: String
    /// From 0, which lets none begin.
    package let most: Int

    package init(subject: Subject, name: String, most: Int) {
        self.subject = subject
        self.name = name
        self.most = most
    }
}

/// A limit with what is used of it.
package struct UsedLimit: Sendable, Hashable {
    package let limit: RunLimit
    package let open: Int

    package init(limit: RunLimit, open: Int) {
        self.limit = limit
        self.open = open
    }

    package var isReached: Bool { open >= limit.most }
}
