/// Takes a part of the farm out of use: why.
package struct ServiceRequest: Sendable, Hashable, Codable {
    /// For who wants to change it later; needed for `drain` and `maintenance`.
    package let reason: String?

    package init(reason: String?) {
        self.reason = reason
    }

    /// Bytes that a reason may have.
    package static let reasonLimit = 1000
}

/// What came of putting a part of the farm back into use.
package struct ResumedView: Sendable, Hashable, Codable {
    /// What it was out of use for; absent if it was in use.
    package let former: ServiceState?
    /// What still takes it out of use: a slot is out of use with its host and with the farm.
    package let remaining: [ServiceState]

    package init(former: ServiceState?, remaining: [ServiceState]) {
        self.former = former
        self.remaining = remaining
    }
}
