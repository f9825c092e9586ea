import BerthSystem

/// How many replies passed and how many were lost after what they answer was done, kind by kind.
package struct ReplyTally: Sendable, Hashable {
    package enum Kind: String, Sendable, CaseIterable {
        /// The API's answer to a submission.
        case submission
        case recorded, renewed
        case accepted, declined, result, released
        case missing, stored, refused

        /// Who says it.
        package var speaker: Speaker {
            switch self {
            case .submission: .api
            case .recorded, .renewed: .coordinator
            case .accepted, .declined, .result, .released: .agents
            case .missing, .stored, .refused: .hosts
            }
        }
    }

    /// Who replies: the API to its clients, the coordinator to agents, agents and hosts to the coordinator.
    package enum Speaker: Sendable, CaseIterable {
        case api
        case coordinator
        case agents
        case hosts
    }

    package struct Count: Sendable, Hashable {
        package var all = 0
        package var lost = 0

        package init(all: Int = 0, lost: Int = 0) {
            self.all = all
            self.lost = lost
        }
    }

    private var counts: [Kind: Count] = [:]

    package init() {}

    /// Reads what pipes have noted, one line a reply.
    /// - Parameter text: the lines; one that was cut off counts for nothing.
    package init(notes text: some StringProtocol) {
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count == 2, let kind = Kind(rawValue: String(words[0])) else { continue }
            add(kind, lost: words[1] == "lost" ? 1 : 0)
        }
    }

    /// The line for a reply.
    static func note(_ kind: Kind, isLost: Bool) -> String { "\(kind.rawValue) \(isLost ? "lost" : "passed")\n" }

    /// Adds replies.
    /// - Parameters:
    ///   - kind: what they are.
    ///   - all: how many there were.
    ///   - lost: how many of them were lost.
    package mutating func add(_ kind: Kind, _ all: Int = 1, lost: Int) {
        counts[kind, default: Count()].all += all
        counts[kind, default: Count()].lost += lost
    }

    package subscript(kind: Kind) -> Count { counts[kind] ?? Count() }

    package subscript(speaker: Speaker) -> Count {
        counts.reduce(into: Count()) { sum, one in
            guard one.key.speaker == speaker else { return }
            sum.all += one.value.all
            sum.lost += one.value.lost
        }
    }

    package var lost: Int { counts.values.reduce(0) { $0 + $1.lost } }

    /// All kinds for people.
    package var words: String {
        Kind.allCases.filter { self[$0].all > 0 }
            .map { "\($0.rawValue) \(self[$0].lost) of \(self[$0].all)" }
            .joined(separator: ", ")
    }
}
