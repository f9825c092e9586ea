import BerthCore

/// Shows one run: how it ended, why, and where to look further.
struct RunShowCommand: Command {
    static let description = CommandDescription(
        name: "run show",
        summary: "Tell how a run ended and why: checks, timeline, both items' fields, entitlements.",
        operands: [.init(name: "RUN", help: "the run's ID, such as r-12")],
        options: [
            .init(
                name: "--full",
                kind: .flag,
                help: "all attempts, every operation with its OSStatus, whole diffs, and every file of the evidence"
            )
        ],
        discussion: """
            After a failure look first at which of the five contract fields differs between the builds (C1), then at
            whether the entitlements changed (S1). Items are named without the attempt's random suffix.
            """
    )

    private let run: String
    private let full: Bool

    init(_ arguments: ParsedArguments) throws {
        run = arguments.operands[0]
        full = arguments.has("--full")
    }

    func run(_ context: CommandContext) async throws -> ExitCode {
        let answer = try await context.client.get(APIClient.path("runs", run), as: RunView.self)
        let attempts = answer.value.attempts
        // The last attempt with a report is the one that decided, or came nearest to it.
        let told = attempts.last { $0.report != nil }
        if context.json {
            let evidence: AttemptEvidence? =
                if let report = told?.report { await AttemptEvidence.read(report, context.client) } else { nil }
            let document = RunDiagnosis(answer.value, attempt: told, evidence: evidence)
            context.console.write(String(decoding: try CanonicalJSON.encode(document), as: UTF8.self) + "\n")
            return .success
        }
        let report = RunReport(
            run: answer.value,
            width: min(max(context.console.terminal()?.columns ?? 80, 60), 120),
            full: full,
            style: context.style
        )
        var text = report.head
        for attempt in attempts {
            let isTold = full || attempt.id == told?.id || (told == nil && attempt.id == attempts.last?.id)
            guard isTold else {
                text += report.summary(attempt)
                continue
            }
            let evidence: AttemptEvidence =
                if let report = attempt.report {
                    await AttemptEvidence.read(report, context.client)
                } else {
                    AttemptEvidence(launches: [], entitlements: nil)
                }
            text += report.story(attempt, evidence)
        }
        context.console.write(text)
        return .success
    }
}
