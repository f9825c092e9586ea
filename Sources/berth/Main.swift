import BerthSystem
import Foundation

/// The CLI for operators, CI and engineers.
@main struct Main {
    static func main() async {
        Signals.ignoreBrokenPipes()
        let program = Program(environment: ProcessInfo.processInfo.environment, console: .standard)
        let status = await program.run(Array(CommandLine.arguments.dropFirst()))
        exit(status.rawValue)
    }
}
