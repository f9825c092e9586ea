import BerthCore

/// Calls a run or a batch off.
struct CancelCommand: Command {
    static let description = CommandDescription(
        name: "cancel",
        summary: "Cancel a run, or all runs of a batch or of a submitter that have no end yet.",
        operands: [.init(name: "ID", help: "the run's or batch's ID, such as r-12 or b-3", count: .atMostOne)],
        options: [
            .init(name: "--submitter", kind: .value("NAME"), help: "all that was submitted with the token of this name")
        ],
        discussion: """
            A run that waits is cancelled at once. One that is being executed ends as soon as its agent has ended the app
            and put the device away; `berth watch` follows it. A run that has its end keeps it.
            """
    )

    private enum Subject {
        case run(String)
        case batch(String)
        case submitter(String)
    }

    private let subject: Subject

    init(_ arguments: ParsedArguments) throws {
        switch (arguments.operands.first, arguments.value("--submitter")) {
        case (nil, let name?):
            guard !name.isEmpty else { throw arguments.failure("--submitter needs a name") }
            subject = .submitter(name)
        case (let id?, nil) where id.hasPrefix("r-"): subject = .run(id)
        case (let id?, nil) where id.hasPrefix("b-"): subject = .batch(id)
        case (let id?, nil):
            throw arguments.failure("\(id.debugDescription) is neither a run's nor a batch's ID, such as r-12 or b-3")
        default: throw arguments.failure("give either the ID of a run or batch, or --submitter NAME")
        }
    }

    func run(_ context: CommandContext) async throws -> ExitCode {
        switch subject {
        case .run(let id):
            let path = APIClient.path("runs", id, "cancel")
            let answer = try await context.client.post(path, [String: String](), as: RunView.self)
            context.show(answer) { Self.words(for: $0) + "\n" }
        case .batch(let id):
            let path = APIClient.path("batches", id, "cancel")
            let answer = try await context.client.post(path, [String: String](), as: BatchView.self)
            context.show(answer) { $0.runs.map { Self.words(for: $0) + "\n" }.joined() }
        case .submitter(let name):
            let path = APIClient.path("submitters", name, "cancel")
            let answer = try await context.client.post(path, [String: String](), as: SubmitterCancellation.self)
            context.show(answer) { Self.words(for: $0) + "\n" }
        }
        return .success
    }

    private static func words(for cancellation: SubmitterCancellation) -> String {
        let submitter = PlainText.safe(cancellation.submitter)
        guard cancellation.runs > 0 else { return "\(submitter) has no run without an end" }
        return "\(cancellation.runs - cancellation.ending) runs of \(submitter) are cancelled, "
            + "\(cancellation.ending) are being ended on their slots"
    }

    private static func words(for run: RunView) -> String {
        switch run.state {
        case .cancelled: "\(run.id) is cancelled"
        case .finished, .expired: "\(run.id) had ended before: \(run.verdict?.rawValue ?? run.state.rawValue)"
        case .queued, .assigned, .running: "\(run.id) is being ended on \(run.attempts.last?.slot ?? "its slot")"
        }
    }
}
