import BerthCore

/// Follows batches.
struct WatchCommand: Command {
    static let description = CommandDescription(
        name: "watch",
        summary: "Follow batches until all their runs have finished.",
        operands: [.init(name: "BATCH", help: "the batch's ID, such as b-3; several are one table", count: .oneOrMore)],
        options: [.init(name: "--plain", kind: .flag, help: "a line for each change, also on a terminal")],
        discussion: """
            On a terminal a table is updated in place, elsewhere each change is a line. With --json the batches are printed,
            a document a line, once all have finished. The exit status does not depend on the runs' verdicts: the gate judges.
            """
    )

    private let batches: [String]
    private let isPlain: Bool

    init(_ arguments: ParsedArguments) throws {
        batches = arguments.operands
        isPlain = arguments.has("--plain")
    }

    func run(_ context: CommandContext) async throws -> ExitCode {
        try await BatchWatch(context: context, batches: batches, isPlain: isPlain).run()
    }
}
