/// What the bearer of a token may do.
package enum TokenRole: String, Sendable, Hashable, Codable, CaseIterable {
    /// Look at everything.
    case viewer
    /// The same, add builds and cases, submit, and cancel what it has submitted.
    case submitter
    /// Everything.
    case `operator`
    /// The same: the first token's.
    case admin

    /// Whether it may do what changes the farm for others.
    package var operates: Bool { self == .operator || self == .admin }
}

/// Asks for a new token.
package struct TokenRequest: Sendable, Hashable, Codable {
    /// Who it is for: the actor and submitter of what it is used for.
    package let name: String
    package let role: TokenRole

    package init(name: String, role: TokenRole) {
        self.name = name
        self.role = role
    }
}

/// A token, without its value but in the answer that makes it.
package struct TokenView: Sendable, Hashable, Codable {
    package let name: String
    /// One of `TokenRole`'s words.
    package let role: String
    /// Milliseconds since 1970.
    package let addedAt: Int64
    /// Its value, told once.
    package let token: String?

    package init(name: String, role: String, addedAt: Int64, token: String? = nil) {
        self.name = name
        self.role = role
        self.addedAt = addedAt
        self.token = token
    }
}
