/// Accepts another key of a host.
package struct HostTrustRequest: Sendable, Hashable, Codable {
    /// Of the key, `SHA256:…` as OpenSSH prints it.
    package let fingerprint: String

    package init(fingerprint: String) {
        self.fingerprint = fingerprint
    }
}

/// What came of it.
package struct HostTrustView: Sendable, Hashable, Codable {
    package enum State: String, Sendable, Codable {
        /// The host shows that key, and from now on it is the pinned one.
        case trusted
        /// The host has not shown that key yet: it is pinned as soon as it does.
        case expected
        /// That key was the pinned one already.
        case unchanged
        /// The key that was announced is not expected any more.
        case withdrawn
    }

    package let host: String
    package let state: State
    /// The fingerprint that is pinned now.
    package let pinned: String
    /// The one that was pinned before, if it was replaced; the one that was announced, if that was withdrawn.
    package let former: String?
    /// Why the host's present key is not known, if it could not be asked.
    package let problem: String?

    package init(host: String, state: State, pinned: String, former: String? = nil, problem: String? = nil) {
        self.host = host
        self.state = state
        self.pinned = pinned
        self.former = former
        self.problem = problem
    }
}

/// A host's key that is not, or not yet, the pinned one.
package struct HostKeyChange: Sendable, Hashable, Codable {
    /// Fingerprint of the key that the host showed last instead of the pinned one: it is refused until an operator
    /// accepts it.
    package let shown: String?
    /// When it was first seen, in milliseconds since 1970.
    package let shownSince: Int64?
    /// Fingerprint that an operator announced before the host showed it.
    package let expected: String?
    /// By whom.
    package let expectedBy: String?

    package init(shown: String?, shownSince: Int64?, expected: String?, expectedBy: String?) {
        self.shown = shown
        self.shownSince = shownSince
        self.expected = expected
        self.expectedBy = expectedBy
    }
}
