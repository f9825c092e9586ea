/// An attempt as it is handed to an agent.
package struct Assignment: Sendable, Hashable, Codable {
    package let run: String
    package let attempt: String
    /// Grows with every claim on the device; an agent refuses one that is not above all it has seen.
    package let epoch: UInt64
    /// 32 hexadecimal digits; suffix and canary derive from it.
    package let nonce: String
    package let pins: Pins
    package let caseDefinition: CaseDefinition
    /// Per build of the path, what it is.
    package let builds: [AssignedBuild]
    /// The whole attempt must end within this time, in milliseconds.
    package let timeout: Int64

    package init(
        run: String,
        attempt: String,
        epoch: UInt64,
        nonce: String,
        pins: Pins,
        caseDefinition: CaseDefinition,
        builds: [AssignedBuild],
        timeout: Int64
    ) {
        self.run = run
        self.attempt = attempt
        self.epoch = epoch
        self.nonce = nonce
        self.pins = pins
        self.caseDefinition = caseDefinition
        self.builds = builds
        self.timeout = timeout
    }

    /// The build of a role; a transitional one stands in the middle of three.
    package func build(_ role: BuildRole) -> AssignedBuild? {
        switch role {
        case .old: builds.first
        case .transitional: builds.count == 3 ? builds[1] : nil
        case .new: builds.last
        }
    }
}

/// A build with what is needed to install it.
package struct AssignedBuild: Sendable, Hashable, Codable {
    package let id: Digest
    package let description: BuildDescription

    package init(id: Digest, description: BuildDescription) {
        self.id = id
        self.description = description
    }
}
