/// What the coordinator says to a host or to one of its agents.
package enum CoordinatorMessage: TypedMessage {
    /// First on every channel; `attach` passes it on to every agent.
    case hello(CoordinatorHello)
    /// Which of these blobs does the host lack?
    case query(BlobQuery)
    case assign(Assignment)
    /// Answers a heartbeat.
    case renewed(Renewal)
    case cancel(Cancellation)
    /// The result is recorded (or was before): the agent may forget it.
    case recorded(Acknowledgement)
    /// The agent shall let go of a device that it keeps; only for agents that say what they keep.
    case release(DeviceRelease)
    /// What is the host like? Only for hosts whose hello has `facts` among its features.
    case inspect(FactsQuery)
    /// The channel closes, for a reason that an operator can read.
    case closing(Closing)

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: MessageTypeKey.self)
        switch try container.decode(String.self, forKey: .type) {
        case "hello": self = .hello(try .init(from: decoder))
        case "query": self = .query(try .init(from: decoder))
        case "assign": self = .assign(try .init(from: decoder))
        case "renewed": self = .renewed(try .init(from: decoder))
        case "cancel": self = .cancel(try .init(from: decoder))
        case "recorded": self = .recorded(try .init(from: decoder))
        case "release": self = .release(try .init(from: decoder))
        case "inspect": self = .inspect(try .init(from: decoder))
        case "closing": self = .closing(try .init(from: decoder))
        case let other:
            throw DecodingError.dataCorruptedError(
                forKey: .type,
                in: container,
                debugDescription: "\(other.prefix(80).debugDescription) is no message of a coordinator"
            )
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: MessageTypeKey.self)
        let (type, body): (String, any Encodable) =
            switch self {
            case .hello(let body): ("hello", body)
            case .query(let body): ("query", body)
            case .assign(let body): ("assign", body)
            case .renewed(let body): ("renewed", body)
            case .cancel(let body): ("cancel", body)
            case .recorded(let body): ("recorded", body)
            case .release(let body): ("release", body)
            case .inspect(let body): ("inspect", body)
            case .closing(let body): ("closing", body)
            }
        try container.encode(type, forKey: .type)
        try body.encode(to: encoder)
    }
}

/// The range of protocol versions that a side speaks.
package struct ProtocolVersions: Sendable, Hashable, Codable {
    package let lowest: Int
    package let highest: Int

    package init(lowest: Int, highest: Int) {
        self.lowest = lowest
        self.highest = highest
    }

    /// What this code speaks.
    package static let own = ProtocolVersions(lowest: 1, highest: 1)

    /// The version to use with the other side, or nil without overlap.
    package func common(with other: ProtocolVersions) -> Int? {
        let version = min(highest, other.highest)
        return version >= max(lowest, other.lowest) ? version : nil
    }
}

package struct CoordinatorHello: Sendable, Hashable, Codable {
    package let versions: ProtocolVersions
    /// Names the coordinator in agents' logs.
    package let coordinator: String
    /// Fencing number of the coordinator's lease on the host.
    package let term: UInt64
    /// The one number from which both sides end an attempt, in milliseconds.
    package let leaseMilliseconds: Int64
    /// How often agents send heartbeats, in milliseconds.
    package let heartbeatMilliseconds: Int64

    package init(coordinator: String, term: UInt64, leaseMilliseconds: Int64, heartbeatMilliseconds: Int64) {
        self.init(
            versions: .own,
            coordinator: coordinator,
            term: term,
            leaseMilliseconds: leaseMilliseconds,
            heartbeatMilliseconds: heartbeatMilliseconds
        )
    }

    /// What no agent takes: each refuses it and says which versions it speaks. It asks whether an agent is there
    /// without becoming its channel.
    package static let ofNoVersion = CoordinatorHello(
        versions: ProtocolVersions(lowest: 0, highest: 0),
        coordinator: "",
        term: 0,
        leaseMilliseconds: 0,
        heartbeatMilliseconds: 0
    )

    private init(
        versions: ProtocolVersions,
        coordinator: String,
        term: UInt64,
        leaseMilliseconds: Int64,
        heartbeatMilliseconds: Int64
    ) {
        self.versions = versions
        self.coordinator = coordinator
        self.term = term
        self.leaseMilliseconds = leaseMilliseconds
        self.heartbeatMilliseconds = heartbeatMilliseconds
    }
}

package struct BlobQuery: Sendable, Hashable, Codable {
    /// Repeated in the answer.
    package let request: UInt64
    package let blobs: [BlobReference]

    package init(request: UInt64, blobs: [BlobReference]) {
        self.request = request
        self.blobs = blobs
    }
}

package struct Renewal: Sendable, Hashable, Codable {
    /// The heartbeat that is answered.
    package let sequence: UInt64

    package init(sequence: UInt64) {
        self.sequence = sequence
    }
}

package struct Cancellation: Sendable, Hashable, Codable {
    package let attempt: String
    package let epoch: UInt64
    package let reason: String

    package init(attempt: String, epoch: UInt64, reason: String) {
        self.attempt = attempt
        self.epoch = epoch
        self.reason = reason
    }
}

package struct Acknowledgement: Sendable, Hashable, Codable {
    package enum Filing: String, Sendable, Codable {
        case recorded
        /// The attempt had been given up; the result is kept beside, never over another.
        case superseded
        /// No such attempt is known; the agent drops the result into its own log.
        case unknown
    }

    package let attempt: String
    package let epoch: UInt64
    package let filing: Filing

    package init(attempt: String, epoch: UInt64, filing: Filing) {
        self.attempt = attempt
        self.epoch = epoch
        self.filing = filing
    }
}

package struct Closing: Sendable, Hashable, Codable {
    package let reason: String
    /// What the side that closes speaks, when it closes because there is no common version.
    package let versions: ProtocolVersions?

    package init(reason: String, versions: ProtocolVersions? = nil) {
        self.reason = reason
        self.versions = versions
    }
}
