import BerthCore

/// What a journal's records add up to. A value.
package struct JournalState: Sendable, Hashable {
    /// The highest epoch ever seen.
    package private(set) var highestEpoch: UInt64 = 0
    /// The highest coordinator term ever seen.
    package private(set) var highestTerm: UInt64 = 0
    /// An assignment whose result is not journaled.
    package private(set) var running: Assignment?
    /// Process groups that were started and not seen to end.
    package private(set) var processes: [ProcessIdentity] = []
    /// Ended attempts whose results are not acknowledged.
    package private(set) var unacknowledged: [AttemptReference] = []

    package init() {}

    /// Takes in the next record.
    package mutating func apply(_ record: JournalRecord) {
        switch record {
        case .assignment(let assignment):
            running = assignment
            highestEpoch = max(highestEpoch, assignment.epoch)
        case .process(let process):
            processes.append(process)
        case .processEnded(let pid):
            processes.removeAll { $0.pid == pid }
        case .result(let attempt, _):
            if running?.attempt == attempt.attempt { running = nil }
            if !unacknowledged.contains(attempt) { unacknowledged.append(attempt) }
        case .acknowledged(let attempt, _):
            unacknowledged.removeAll { $0 == attempt }
        case .term(let term):
            highestTerm = max(highestTerm, term)
        case .snapshot(let epoch, let term, let attempts):
            self = JournalState()
            highestEpoch = epoch
            highestTerm = term
            unacknowledged = attempts
        }
    }

    /// The one record that says the same, if nothing is running.
    package var snapshot: JournalRecord? {
        guard running == nil, processes.isEmpty else { return nil }
        return .snapshot(highestEpoch: highestEpoch, highestTerm: highestTerm, unacknowledged: unacknowledged)
    }
}
