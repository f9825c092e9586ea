import BerthCore
import BerthStore
import BerthSystem

/// Why what an agent said could not be written down.
enum SlotProblem: Error, CustomStringConvertible {
    /// The evidence came, and this coordinator could not keep it.
    case evidenceNotKept(attempt: String, reason: String)
    /// The result came without its evidence.
    case evidenceMissing(attempt: String, blobs: [Digest])
    /// More waits for the store than one slot may have waiting.
    case inboxFull

    /// A stable word.
    var code: String {
        switch self {
        case .evidenceNotKept: "evidence-not-kept"
        case .evidenceMissing: "evidence-missing"
        case .inboxFull: "inbox-full"
        }
    }

    var description: String {
        switch self {
        case .evidenceNotKept(let attempt, let reason):
            "the evidence of attempt \(attempt) could not be archived here: \(reason); its agent keeps the result and is "
                + "asked again"
        case .evidenceMissing(let attempt, let blobs):
            "the result of attempt \(attempt) came without its evidence (\(blobs.map(\.short).joined(separator: ", "))); "
                + "its agent is asked to send both again"
        case .inboxFull:
            "more of what its agent says waits to be written down than is kept waiting; its agent is asked again"
        }
    }
}

extension OutcomeCause {
    /// What an error in writing something down is called.
    init(writing error: any Error) {
        switch error {
        case let error as SlotProblem: self.init(error.code, "\(error)")
        case let error as StoreError: self.init(error.code, "\(error)")
        case let error as SystemError where error.isDiskFull:
            self.init("disk-full", "the coordinator's disk is full: \(error); free space there")
        default: self.init("internal", "\(error)")
        }
    }
}

/// Whether the same may work a moment later, without anybody saying anything again.
func mayPass(_ error: any Error) -> Bool {
    switch error {
    case let error as StoreError: error.mayPass
    case let error as SystemError: error.isDiskFull
    default: false
    }
}
