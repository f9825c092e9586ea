import BerthCore

/// One line of an agent's journal (agent/README.md).
package enum JournalRecord: Sendable, Hashable {
    /// An assignment, before anything is done for it.
    case assignment(Assignment)
    /// A process group that works for the attempt, by its leader.
    case process(ProcessIdentity)
    /// That process group has ended.
    case processEnded(Int32)
    /// An attempt has ended and its report is kept, before it is sent.
    case result(AttemptReference, Outcome)
    /// The coordinator has the result.
    case acknowledged(AttemptReference, Acknowledgement.Filing)
    /// A coordinator's term that is above all before.
    case term(UInt64)
    /// What the journal said so far; first line of a journal that was compacted.
    case snapshot(highestEpoch: UInt64, highestTerm: UInt64, unacknowledged: [AttemptReference])

    /// It matters only for as long as the machine runs on, so it need not be on disk: a power cut takes the processes too.
    var endsWithTheMachine: Bool {
        switch self {
        case .process, .processEnded: true
        case .assignment, .result, .acknowledged, .term, .snapshot: false
        }
    }

    var isSnapshot: Bool {
        if case .snapshot = self { true } else { false }
    }
}

extension JournalRecord: Codable {
    private enum CodingKeys: String, CodingKey {
        case record
        case assignment
        case process
        case pid
        case attempt
        case outcome
        case filing
        case term
        case highestEpoch
        case highestTerm
        case unacknowledged
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        switch try container.decode(String.self, forKey: .record) {
        case "assignment": self = .assignment(try container.decode(Assignment.self, forKey: .assignment))
        case "process": self = .process(try container.decode(ProcessIdentity.self, forKey: .process))
        case "process-ended": self = .processEnded(try container.decode(Int32.self, forKey: .pid))
        case "result":
            self = .result(
                try container.decode(AttemptReference.self, forKey: .attempt),
                try container.decode(Outcome.self, forKey: .outcome)
            )
        case "acknowledged":
            self = .acknowledged(
                try container.decode(AttemptReference.self, forKey: .attempt),
                try container.decode(Acknowledgement.Filing.self, forKey: .filing)
            )
        case "term": self = .term(try container.decode(UInt64.self, forKey: .term))
        case "snapshot":
            self = .snapshot(
                highestEpoch: try container.decode(UInt64.self, forKey: .highestEpoch),
                highestTerm: try container.decode(UInt64.self, forKey: .highestTerm),
                unacknowledged: try container.decode([AttemptReference].self, forKey: .unacknowledged)
            )
        case let other:
            throw DecodingError.dataCorruptedError(
                forKey: .record,
                in: container,
                debugDescription: "\(other.debugDescription) is no record of a journal"
            )
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        switch self {
        case .assignment(let assignment):
            try container.encode("assignment", forKey: .record)
            try container.encode(assignment, forKey: .assignment)
        case .process(let process):
            try container.encode("process", forKey: .record)
            try container.encode(process, forKey: .process)
        case .processEnded(let pid):
            try container.encode("process-ended", forKey: .record)
            try container.encode(pid, forKey: .pid)
        case .result(let attempt, let outcome):
            try container.encode("result", forKey: .record)
            try container.encode(attempt, forKey: .attempt)
            try container.encode(outcome, forKey: .outcome)
        case .acknowledged(let attempt, let filing):
            try container.encode("acknowledged", forKey: .record)
            try container.encode(attempt, forKey: .attempt)
            try container.encode(filing, forKey: .filing)
        case .term(let term):
            try container.encode("term", forKey: .record)
            try container.encode(term, forKey: .term)
        case .snapshot(let epoch, let term, let unacknowledged):
            try container.encode("snapshot", forKey: .record)
            try container.encode(epoch, forKey: .highestEpoch)
            try container.encode(term, forKey: .highestTerm)
            try container.encode(unacknowledged, forKey: .unacknowledged)
        }
    }
}
