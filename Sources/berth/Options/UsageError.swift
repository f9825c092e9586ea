/// A command line that cannot be understood.
struct UsageError: Error, Equatable, CustomStringConvertible {
    let message: String
    /// The command whose `--help` says more; empty for the program as a whole.
    let command: String

    var description: String {
        let help = command.isEmpty ? "berth --help" : "berth \(command) --help"
        return "\(message)\nTry `\(help)`."
    }
}
