/// What was found at one place of a host, or on the way to it.
package struct DoctorCheck: Sendable, Hashable, Codable {
    package enum State: String, Sendable, Codable {
        case ok
        /// Something is wrong: `advice` says what to do.
        case problem
        /// It could not be looked at; `measured` says why.
        case unknown
    }

    /// A word such as `host-key` (docs/cli.md).
    package let name: String
    package let state: State
    /// What was found.
    package let measured: String
    /// What to do about a problem.
    package let advice: String?

    package init(_ name: String, _ state: State, _ measured: String, advice: String? = nil) {
        self.name = name
        self.state = state
        self.measured = measured
        self.advice = advice
    }
}

/// An examination of a host from the coordinator's side.
package struct DoctorReport: Sendable, Hashable, Codable {
    package let host: String
    /// Milliseconds since 1970.
    package let at: Int64
    /// In the order in which things depend on one another.
    package let checks: [DoctorCheck]

    package init(host: String, at: Int64, checks: [DoctorCheck]) {
        self.host = host
        self.at = at
        self.checks = checks
    }

    /// The worst of the checks: a problem, else something unknown, else ok.
    package var state: DoctorCheck.State {
        let states = Set(checks.map(\.state))
        return states.contains(.problem) ? .problem : states.contains(.unknown) ? .unknown : .ok
    }
}
