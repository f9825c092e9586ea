import BerthCore
import BerthSystem
import Foundation

/// Why something cannot be written on this host, as an operator hears it.
package struct DiskTrouble: Sendable, Hashable, CustomStringConvertible {
    /// The cause's code: `disk-full` or `state-unwritable`.
    package let code: String
    /// What was tried, where, and what the system said.
    package let problem: String
    /// What helps.
    package let remedy: String

    package init(_ error: any Error) {
        problem = "\(error)"
        let number = (error as? SystemError)?.code
        switch number {
        case ENOSPC, EDQUOT:
            code = "disk-full"
            remedy = "make room on that disk; the agent goes on by itself"
        case EROFS:
            code = "state-unwritable"
            remedy = "mount it writable"
        case EACCES, EPERM:
            code = "state-unwritable"
            remedy = "give it to the agent's user \(NSUserName())"
        default:
            code = "state-unwritable"
            remedy = "look at that disk"
        }
    }

    package var description: String { "\(problem): \(remedy)" }

    /// The same as the cause of an outcome or a refusal.
    package var cause: OutcomeCause { OutcomeCause(code, description) }
}
