import BerthCore

/// Follows a batch.
struct WatchCommand: Command {
    static let description = CommandDescription(
        name: "watch",
        summary: "Follow a batch until all its runs have finished.",
        operands: [.init(name: "BATCH", help: "the batch's ID, such as b-3")],
        options: [.init(name: "--plain", kind: .flag, help: "a line for each change, also on a terminal")],
        discussion: """
            On a terminal a table is updated in place, elsewhere each change is a line. With --json the batch is printed
            once it has finished. The exit status does not depend on the runs' verdicts: the gate judges.
            """
    )

    private let batch: String
    private let isPlain: Bool

    init(_ arguments: ParsedArguments) throws {
        batch = arguments.operands[0]
        isPlain = arguments.has("--plain")
    }

    func run(_ context: CommandContext) async throws -> ExitCode {
        try await BatchWatch(context: context, batch: batch, isPlain: isPlain).run()
    }
}
