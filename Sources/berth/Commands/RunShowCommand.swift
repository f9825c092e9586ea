import BerthCore

/// Shows one run with its attempts and what they left.
struct RunShowCommand: Command {
    static let description = CommandDescription(
        name: "run show",
        summary: "Show a run: pins, attempts, checks, steps, and the items of old and new build side by side.",
        operands: [.init(name: "RUN", help: "the run's ID, such as r-12")]
    )

    private let run: String

    init(_ arguments: ParsedArguments) throws {
        run = arguments.operands[0]
    }

    func run(_ context: CommandContext) async throws -> ExitCode {
        let answer = try await context.client.get(APIClient.path("runs", run), as: RunView.self)
        if context.json {
            context.show(answer) { _ in "" }
            return .success
        }
        var text = RunReport.head(answer.value)
        for attempt in answer.value.attempts {
            text += "\n" + RunReport.attempt(attempt)
            if let report = attempt.report { text += await contracts(of: report, context) }
        }
        context.console.write(text)
        return .success
    }

    /// Reads the attempt's status files out of the evidence and compares what they say of the items.
    private func contracts(of report: AttemptReport, _ context: CommandContext) async -> String {
        var statuses: [(name: String, status: StatusFile)] = []
        var problems: [String] = []
        for file in report.files.sorted(by: { $0.path < $1.path }) where file.path.hasPrefix("status/") {
            guard file.size <= Int64(StatusFile.sizeLimit) else {
                problems.append("\(file.path) is too long to be a status file")
                continue
            }
            do {
                let bytes = try await context.client.blob(file.digest)
                statuses.append((file.path, try StatusFile.parse(bytes, name: file.path)))
            } catch {
                problems.append("\(file.path): \(error)")
            }
        }
        return ContractComparison(statuses).text + problems.map { "  \(PlainText.safe($0))\n" }.joined()
    }
}
