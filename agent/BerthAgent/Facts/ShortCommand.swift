import BerthSystem
import Foundation

/// A command of the system that answers at once.
enum ShortCommand {
    /// What it printed, without blanks at the ends; nil when it failed, took too long or is not there.
    static func output(_ program: String, _ arguments: [String]) async -> String? {
        let result = try? await CommandRunner.run(
            ProcessSpecification(
                executable: program,
                arguments: arguments,
                environment: ProcessInfo.processInfo.environment
            ),
            timeout: .seconds(5)
        )
        guard let result, result.termination == .exited(0) else { return nil }
        return result.outputText.trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
