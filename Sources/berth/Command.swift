/// One command of the program: its arguments are validated by the initialiser, the rest happens in `run`.
protocol Command: Sendable {
    static var description: CommandDescription { get }

    /// - Throws: `UsageError`
    init(_ arguments: ParsedArguments) throws

    /// Does the work and prints what came of it.
    func run(_ context: CommandContext) async throws -> ExitCode
}

/// A command that may do its work without a coordinator.
protocol LocalCommand: Command {
    /// Does it, or returns nil when the coordinator is needed.
    func runAlone(_ console: Console, json: Bool) throws -> ExitCode?
}

/// What a command works with.
struct CommandContext: Sendable {
    let client: APIClient
    let console: Console
    /// Whether to print the API's JSON.
    let json: Bool
    /// What the output can bear besides plain text.
    let style: TextStyle
    /// Between two looks at a batch that is watched.
    let pollInterval: Duration

    /// Prints either the API's own bytes or what is made of them.
    func show<Value>(_ answer: APIAnswer<Value>, _ text: (Value) -> String) {
        console.write(json ? "\(answer.json)\n" : text(answer.value))
    }
}
