/// Asks `attach` for facts about its host; only for hosts whose hello names the feature `facts`.
package struct FactsQuery: Sendable, Hashable, Codable {
    /// Repeated in the answer.
    package let request: UInt64

    package init(request: UInt64) {
        self.request = request
    }
}

/// What `attach` found on its host, for `berth doctor`. It judges nothing.
package struct HostFacts: Sendable, Hashable, Codable {
    /// The query that is answered.
    package let request: UInt64
    /// Kernel and release, such as `Linux 6.1.0-13-amd64`.
    package let system: String
    /// The user as which `attach` runs.
    package let user: String
    /// The host's wall clock when it answered, milliseconds since 1970.
    package let wallClock: Int64
    package let disks: [DiskFacts]
    package let agents: [AgentFacts]
    /// Where agents' sockets are looked for.
    package let socketsFolder: String
    /// Why that folder cannot be read.
    package let socketsProblem: String?
    package let sshd: SSHDFacts?
    /// On a Mac only.
    package let mac: MacFacts?

    package init(
        request: UInt64,
        system: String,
        user: String,
        wallClock: Int64,
        disks: [DiskFacts],
        agents: [AgentFacts],
        socketsFolder: String,
        socketsProblem: String?,
        sshd: SSHDFacts?,
        mac: MacFacts?
    ) {
        self.request = request
        self.system = system
        self.user = user
        self.wallClock = wallClock
        self.disks = disks
        self.agents = agents
        self.socketsFolder = socketsFolder
        self.socketsProblem = socketsProblem
        self.sshd = sshd
        self.mac = mac
    }
}

/// Room on the file system of a path.
package struct DiskFacts: Sendable, Hashable, Codable {
    /// Such as `cache`, or `state of sim-1`.
    package let purpose: String
    package let path: String
    /// Bytes that the user may still take.
    package let free: Int64
    /// Bytes of the whole file system.
    package let total: Int64

    package init(purpose: String, path: String, free: Int64, total: Int64) {
        self.purpose = purpose
        self.path = path
        self.free = free
        self.total = total
    }
}

/// An agent's socket, asked whether anybody is there.
package struct AgentFacts: Sendable, Hashable, Codable {
    package let slot: String
    /// Why nobody answers; absent when the agent answered.
    package let problem: String?
    /// The versions that it speaks, if it said so.
    package let versions: ProtocolVersions?

    package init(slot: String, problem: String?, versions: ProtocolVersions?) {
        self.slot = slot
        self.problem = problem
        self.versions = versions
    }
}

/// Limits of the sshd that serves this channel.
package struct SSHDFacts: Sendable, Hashable, Codable {
    /// Where they were read.
    package let source: String
    /// In sshd's own words, by name in lower case, such as `maxstartups` and `10:30:100`.
    package let settings: [String: String]

    package init(source: String, settings: [String: String]) {
        self.source = source
        self.settings = settings
    }
}
