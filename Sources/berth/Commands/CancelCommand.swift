import BerthCore

/// Calls a run or a batch off.
struct CancelCommand: Command {
    static let description = CommandDescription(
        name: "cancel",
        summary: "Cancel a run, or all runs of a batch that have no end yet.",
        operands: [.init(name: "ID", help: "the run's or batch's ID, such as r-12 or b-3")],
        discussion: """
            A run that waits is cancelled at once. One that is being executed ends as soon as its agent has ended the app
            and put the device away; `berth watch` follows it. A run that has its end keeps it.
            """
    )

    private let id: String

    init(_ arguments: ParsedArguments) throws {
        id = arguments.operands[0]
        guard id.hasPrefix("r-") || id.hasPrefix("b-") else {
            throw arguments.failure("\(id.debugDescription) is neither a run's nor a batch's ID, such as r-12 or b-3")
        }
    }

    func run(_ context: CommandContext) async throws -> ExitCode {
        if id.hasPrefix("r-") {
            let path = APIClient.path("runs", id, "cancel")
            let answer = try await context.client.post(path, [String: String](), as: RunView.self)
            context.show(answer) { Self.words(for: $0) + "\n" }
        } else {
            let path = APIClient.path("batches", id, "cancel")
            let answer = try await context.client.post(path, [String: String](), as: BatchView.self)
            context.show(answer) { $0.runs.map { Self.words(for: $0) + "\n" }.joined() }
        }
        return .success
    }

    private static func words(for run: RunView) -> String {
        switch run.state {
        case .cancelled: "\(run.id) is cancelled"
        case .finished, .expired: "\(run.id) had ended before: \(run.verdict?.rawValue ?? run.state.rawValue)"
        case .queued, .assigned, .running: "\(run.id) is being ended on \(run.attempts.last?.slot ?? "its slot")"
        }
    }
}
