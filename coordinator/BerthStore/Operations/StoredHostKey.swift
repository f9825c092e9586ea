import BerthCore

/// A host's key with its fingerprint.
package struct StoredHostKey: Sendable, Hashable {
    /// Algorithm, blank, base64.
    package let line: String
    /// `SHA256:…`
    package let fingerprint: String

    package init(line: String, fingerprint: String) {
        self.line = line
        self.fingerprint = fingerprint
    }
}

/// What the store knows of a host's key beside the pinned one.
package struct HostKeyState: Sendable, Hashable {
    /// What the host showed last instead of the pinned one.
    package let shown: StoredHostKey?
    package let shownSince: Int64?
    /// What an operator said that it will show, and who.
    package let expected: String?
    package let expectedBy: String?

    /// The same for the API.
    package var change: HostKeyChange {
        HostKeyChange(
            shown: shown?.fingerprint,
            shownSince: shownSince,
            expected: expected,
            expectedBy: expectedBy
        )
    }
}
