import BerthCore
import BerthSystem
import Foundation

/// Why something cannot be written on this host, as an operator hears it.
package struct DiskTrouble: Error, Sendable, Hashable, CustomStringConvertible {
    /// The cause's code.
    package enum Code: String, Sendable {
        case diskFull = "disk-full"
        case stateUnwritable = "state-unwritable"
    }

    package let code: Code
    /// What was tried, where, and what the system said.
    package let problem: String
    /// What helps.
    package let remedy: String

    private static let room = "make room on that disk"

    /// What a failed write says.
    package init(_ error: any Error) {
        if let trouble = error as? DiskTrouble {
            self = trouble
            return
        }
        if case JournalError.unwritable(_, let trouble) = error {
            self = trouble
            return
        }
        problem = "\(error)"
        switch (error as? SystemError)?.code {
        case ENOSPC, EDQUOT:
            code = .diskFull
            remedy = Self.room
        case EROFS:
            code = .stateUnwritable
            remedy = "mount it writable"
        case EACCES, EPERM:
            code = .stateUnwritable
            remedy = "give it to the agent's user \(NSUserName())"
        default:
            code = .stateUnwritable
            remedy = "look at that disk"
        }
    }

    /// So many bytes are free on the disk of a path, fewer than an attempt needs.
    init(free: Int64, of minimum: Int64, at path: String) {
        code = .diskFull
        problem = "the disk of \(path) has \(free >> 10) KiB left, and an attempt needs \(minimum >> 10)"
        remedy = Self.room
    }

    package var description: String { "\(problem): \(remedy)" }

    /// The same as the cause of an outcome.
    package var cause: OutcomeCause { OutcomeCause(code.rawValue, description) }
    /// The same as the reason why a slot takes no attempt.
    var refusal: OutcomeCause { OutcomeCause(code.rawValue, "\(description); the slot then goes on by itself") }
}
