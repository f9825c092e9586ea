import BerthArchive
import BerthCore
import BerthSystem
import Foundation

/// Why a command ends without having done its work.
struct CommandFailure: Error, Equatable, CustomStringConvertible {
    let status: ExitCode
    /// What was wrong, where, and what to do.
    let message: String
    /// What the coordinator finds wrong with a plan, by place.
    let problems: [PlanProblem]

    var description: String { message }

    init(_ status: ExitCode, _ message: String, problems: [PlanProblem] = []) {
        self.status = status
        self.message = message
        self.problems = problems
    }

    /// Finds the exit status of any error that a command may meet.
    init(_ error: any Error) {
        switch error {
        case let failure as CommandFailure: self = failure
        case let usage as UsageError: self.init(.usage, "\(usage)")
        case let format as FormatError: self.init(.badInput, "\(format)")
        case let broken as LedgerChain.Break: self.init(.badInput, "\(broken)")
        case let archive as ArchiveError: self.init(.badInput, "\(archive)")
        case let system as SystemError where system.code == ENOENT || system.code == ENOTDIR:
            self.init(.missingInput, "\(system)")
        case let system as SystemError where system.path != nil: self.init(.badInput, "\(system)")
        default: self.init(.failure, "\(error)")
        }
    }
}
