/// What the gate says of one path of builds, policy by policy.
package struct PathVerdicts: Sendable, Hashable, Codable {
    /// Old build to new build.
    package let path: [Digest]
    /// Names of the path's builds, in order.
    package let buildNames: [String]
    /// One a policy, in the order in which the coordinator was given them.
    package let reports: [GateReport]

    package init(path: [Digest], buildNames: [String], reports: [GateReport]) {
        self.path = path
        self.buildNames = buildNames
        self.reports = reports
    }
}
