/// How a host is reached.
package struct HostRecord: Sendable, Hashable, Codable {
    /// The farm's name for it.
    package let name: String
    /// DNS name or address.
    package let hostName: String
    package let port: UInt16
    package let user: String
    /// Path of the private key on the coordinator's machine.
    package let identityFile: String
    /// The pinned host key, as in a known-hosts line: algorithm, blank, base64.
    package let hostKey: String
    /// Shell command whose input and output lead to the host's sshd.
    package let proxyCommand: String?
    /// Hosts on the way, first to last; absent: none.
    package let jump: [JumpHost]?
    /// A key in an ssh-agent, used in place of the key file.
    package let agentKey: AgentKey?
    /// Whether what goes over the connection is compressed, if the host agrees; absent: it is not.
    package let compression: Bool?

    package init(
        name: String,
        hostName: String,
        port: UInt16,
        user: String,
        identityFile: String,
        hostKey: String,
        proxyCommand: String? = nil,
        jump: [JumpHost]? = nil,
        agentKey: AgentKey? = nil,
        compression: Bool? = nil
    ) {
        self.name = name
        self.hostName = hostName
        self.port = port
        self.user = user
        self.identityFile = identityFile
        self.hostKey = hostKey
        self.proxyCommand = proxyCommand
        self.jump = jump
        self.agentKey = agentKey
        self.compression = compression
    }

    /// A host on the way to another one.
    package struct JumpHost: Sendable, Hashable, Codable {
        package let user: String
        package let hostName: String
        package let port: UInt16
        /// Its pinned key: algorithm, blank, base64.
        package let hostKey: String

        package init(user: String, hostName: String, port: UInt16, hostKey: String) {
            self.user = user
            self.hostName = hostName
            self.port = port
            self.hostKey = hostKey
        }
    }

    /// A private key that an ssh-agent holds.
    package struct AgentKey: Sendable, Hashable, Codable {
        /// Of the public key, `SHA256:…`.
        package let fingerprint: String
        /// Path of the agent's socket on the coordinator's machine; absent: what its SSH_AUTH_SOCK names.
        package let socket: String?

        package init(fingerprint: String, socket: String?) {
            self.fingerprint = fingerprint
            self.socket = socket
        }
    }
}

/// A host with what is known of it now.
package struct HostView: Sendable, Hashable, Codable {
    package enum State: String, Sendable, Codable {
        case connecting
        case connected
        case failing
    }

    package let host: HostRecord
    /// SHA-256 fingerprint of the pinned key, as OpenSSH prints it.
    package let fingerprint: String
    package let state: State
    /// Why it fails.
    package let problem: String?
    /// Host's wall clock minus the coordinator's, in milliseconds, when connected.
    package let clockSkew: Int64?
    /// When it is tried again, milliseconds since 1970, while it fails.
    package let nextTry: Int64?
    package let slots: [SlotView]
    /// Which coordinator holds it; absent while none does, or from older ones.
    package let coordinator: String?
    /// A key that the host shows, or will show, instead of the pinned one; absent: there is none.
    package let keyChange: HostKeyChange?

    package init(
        host: HostRecord,
        fingerprint: String,
        state: State,
        problem: String?,
        clockSkew: Int64?,
        nextTry: Int64? = nil,
        slots: [SlotView],
        coordinator: String? = nil,
        keyChange: HostKeyChange? = nil
    ) {
        self.host = host
        self.fingerprint = fingerprint
        self.state = state
        self.problem = problem
        self.clockSkew = clockSkew
        self.nextTry = nextTry
        self.slots = slots
        self.coordinator = coordinator
        self.keyChange = keyChange
    }
}

/// Asks a host for its key, for enrolment.
package struct HostKeyRequest: Sendable, Hashable, Codable {
    package let hostName: String
    package let port: UInt16

    package init(hostName: String, port: UInt16) {
        self.hostName = hostName
        self.port = port
    }
}

/// The key that a host showed, not yet trusted.
package struct HostKeyView: Sendable, Hashable, Codable {
    /// Algorithm, blank, base64.
    package let hostKey: String
    package let fingerprint: String

    package init(hostKey: String, fingerprint: String) {
        self.hostKey = hostKey
        self.fingerprint = fingerprint
    }
}
