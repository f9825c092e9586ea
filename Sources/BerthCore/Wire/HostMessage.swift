/// What a host (`attach`) or one of its agents says to the coordinator; the frame's route tells which.
package enum HostMessage: TypedMessage {
    /// From `attach`, first on every channel.
    case hostHello(HostHello)
    /// From `attach`: answer to a query.
    case missing(MissingBlobs)
    /// From `attach`: bytes of a blob have been written, so that many more may be on their way.
    case received(ReceivedBytes)
    /// From `attach`: a blob is whole, checked and in the host's cache.
    case stored(StoredBlob)
    /// From `attach`: a blob was refused.
    case refused(RefusedBlob)
    /// From `attach`: answer to an inspection.
    case facts(HostFacts)
    /// From `attach`: the slot's agent is gone.
    case slotLeft(SlotLeft)
    /// From an agent, first after each connection.
    case agentHello(AgentHello)
    case accepted(AttemptReference)
    /// The agent does not take the assignment.
    case declined(Declination)
    case heartbeat(Heartbeat)
    case progress(Progress)
    /// An ended attempt; its evidence blobs went before it as chunks.
    case result(AttemptReport)
    /// What came of an order to release a device.
    case released(DeviceReleased)
    case closing(Closing)

    /// What a result says it is.
    package static let resultType = "result"
    /// What the end of a channel says it is.
    package static let closingType = "closing"

    /// The frame of a result whose report is encoded already.
    /// - Parameters:
    ///   - report: a JSON object.
    ///   - route: the slot.
    /// - Returns: the same message as that of the report.
    package static func resultFrame(_ report: [UInt8], route: String) -> Frame {
        Frame(type: .control, route: route, payload: Array(#"{"type":"\#(resultType)","#.utf8) + report.dropFirst())
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: MessageTypeKey.self)
        switch try container.decode(String.self, forKey: .type) {
        case "host-hello": self = .hostHello(try .init(from: decoder))
        case "missing": self = .missing(try .init(from: decoder))
        case "received": self = .received(try .init(from: decoder))
        case "stored": self = .stored(try .init(from: decoder))
        case "refused": self = .refused(try .init(from: decoder))
        case "facts": self = .facts(try .init(from: decoder))
        case "slot-left": self = .slotLeft(try .init(from: decoder))
        case "agent-hello": self = .agentHello(try .init(from: decoder))
        case "accepted": self = .accepted(try .init(from: decoder))
        case "declined": self = .declined(try .init(from: decoder))
        case "heartbeat": self = .heartbeat(try .init(from: decoder))
        case "progress": self = .progress(try .init(from: decoder))
        case Self.resultType: self = .result(try .init(from: decoder))
        case "released": self = .released(try .init(from: decoder))
        case Self.closingType: self = .closing(try .init(from: decoder))
        case let other:
            throw DecodingError.dataCorruptedError(
                forKey: .type,
                in: container,
                debugDescription: "\(other.prefix(80).debugDescription) is no message of a host"
            )
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: MessageTypeKey.self)
        let (type, body): (String, any Encodable) =
            switch self {
            case .hostHello(let body): ("host-hello", body)
            case .missing(let body): ("missing", body)
            case .received(let body): ("received", body)
            case .stored(let body): ("stored", body)
            case .refused(let body): ("refused", body)
            case .facts(let body): ("facts", body)
            case .slotLeft(let body): ("slot-left", body)
            case .agentHello(let body): ("agent-hello", body)
            case .accepted(let body): ("accepted", body)
            case .declined(let body): ("declined", body)
            case .heartbeat(let body): ("heartbeat", body)
            case .progress(let body): ("progress", body)
            case .result(let body): (Self.resultType, body)
            case .released(let body): ("released", body)
            case .closing(let body): (Self.closingType, body)
            }
        try container.encode(type, forKey: .type)
        try body.encode(to: encoder)
    }
}

package struct HostHello: Sendable, Hashable, Codable {
    package let versions: ProtocolVersions
    package let agentVersion: String
    package let hostName: String
    /// The host's wall clock, milliseconds since 1970.
    package let wallClock: Int64
    /// Bytes free where the host's cache lies.
    package let diskFree: Int64
    /// What it understands beyond the protocol's version; absent from older ones.
    package let features: [String]?

    /// It answers `inspect`.
    package static let factsFeature = "facts"

    package init(
        agentVersion: String,
        hostName: String,
        wallClock: Int64,
        diskFree: Int64,
        features: [String]? = nil
    ) {
        versions = .own
        self.agentVersion = agentVersion
        self.hostName = hostName
        self.wallClock = wallClock
        self.diskFree = diskFree
        self.features = features
    }
}

package struct MissingBlobs: Sendable, Hashable, Codable {
    /// A blob that the host lacks, and how much of it an earlier transfer left.
    package struct Missing: Sendable, Hashable, Codable {
        package let digest: Digest
        package let have: UInt64

        package init(digest: Digest, have: UInt64) {
            self.digest = digest
            self.have = have
        }
    }

    package let request: UInt64
    package let missing: [Missing]

    package init(request: UInt64, missing: [Missing]) {
        self.request = request
        self.missing = missing
    }
}

package struct ReceivedBytes: Sendable, Hashable, Codable {
    package let digest: Digest
    /// How many bytes of one chunk.
    package let count: Int

    package init(digest: Digest, count: Int) {
        self.digest = digest
        self.count = count
    }
}

package struct StoredBlob: Sendable, Hashable, Codable {
    package let digest: Digest

    package init(digest: Digest) {
        self.digest = digest
    }
}

package struct RefusedBlob: Sendable, Hashable, Codable {
    package let digest: Digest
    package let reason: String

    package init(digest: Digest, reason: String) {
        self.digest = digest
        self.reason = reason
    }
}

package struct SlotLeft: Sendable, Hashable, Codable {
    package let slot: String
    package let reason: String

    package init(slot: String, reason: String) {
        self.slot = slot
        self.reason = reason
    }
}

package struct AgentHello: Sendable, Hashable, Codable {
    package let versions: ProtocolVersions
    package let slot: String
    package let agentVersion: String
    package let device: DeviceFacts
    /// The agent's public key, 64 hexadecimal digits: pinned at the device's first hello.
    package let key: String?
    /// The highest epoch that this agent has seen for its device.
    package let highestEpoch: UInt64
    package let features: [String]
    /// Tool name to version line.
    package let tools: [String: String]
    /// The attempt that it is executing.
    package let running: AttemptReference?
    /// Ended attempts whose results are not acknowledged yet.
    package let unacknowledged: [AttemptReference]
    /// What the agent keeps; absent from agents that do not say it, and take no `release`.
    package let keeping: SlotKeeping?

    package init(
        slot: String,
        agentVersion: String,
        device: DeviceFacts,
        key: String? = nil,
        highestEpoch: UInt64,
        features: [String],
        tools: [String: String],
        running: AttemptReference?,
        unacknowledged: [AttemptReference],
        keeping: SlotKeeping? = nil
    ) {
        versions = .own
        self.slot = slot
        self.agentVersion = agentVersion
        self.device = device
        self.key = key
        self.highestEpoch = highestEpoch
        self.features = features
        self.tools = tools
        self.running = running
        self.unacknowledged = unacknowledged
        self.keeping = keeping
    }
}

package struct AttemptReference: Sendable, Hashable, Codable {
    package let attempt: String
    package let epoch: UInt64

    package init(attempt: String, epoch: UInt64) {
        self.attempt = attempt
        self.epoch = epoch
    }
}

package struct Declination: Sendable, Hashable, Codable {
    package let attempt: String
    package let epoch: UInt64
    /// Such as `busy`, `stale-epoch`, `device-unavailable`.
    package let cause: OutcomeCause

    package init(attempt: String, epoch: UInt64, cause: OutcomeCause) {
        self.attempt = attempt
        self.epoch = epoch
        self.cause = cause
    }
}

package struct Heartbeat: Sendable, Hashable, Codable {
    package let sequence: UInt64
    /// The attempt that the live executor works on, if any.
    package let running: AttemptReference?
    /// What the agent keeps, when that has changed since it said so last on this channel.
    package let keeping: SlotKeeping?

    package init(sequence: UInt64, running: AttemptReference?, keeping: SlotKeeping? = nil) {
        self.sequence = sequence
        self.running = running
        self.keeping = keeping
    }
}

extension Heartbeat {
    /// The same heartbeat, telling what is kept.
    package func with(_ keeping: SlotKeeping?) -> Heartbeat {
        Heartbeat(sequence: sequence, running: running, keeping: keeping)
    }
}

package struct Progress: Sendable, Hashable, Codable {
    package let attempt: String
    package let epoch: UInt64
    /// From 1.
    package let step: Int
    package let steps: Int
    package let title: String

    package init(attempt: String, epoch: UInt64, step: Int, steps: Int, title: String) {
        self.attempt = attempt
        self.epoch = epoch
        self.step = step
        self.steps = steps
        self.title = title
    }
}
