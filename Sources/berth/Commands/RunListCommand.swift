import BerthCore

/// Lists runs.
struct RunListCommand: Command {
    static let description = CommandDescription(
        name: "run list",
        summary: "List runs, of the latest batches or of one.",
        options: [.init(name: "--batch", kind: .value("BATCH"), help: "only the runs of this batch")]
    )

    private let batch: String?

    init(_ arguments: ParsedArguments) throws {
        batch = arguments.value("--batch")
    }

    func run(_ context: CommandContext) async throws -> ExitCode {
        if let batch {
            let answer = try await context.client.get(
                APIClient.path("runs"),
                query: ["batch": batch],
                as: [RunView].self
            )
            context.show(answer, Self.text)
        } else {
            let answer = try await context.client.get(APIClient.path("batches"), as: [BatchView].self)
            context.show(answer) { Self.text($0.flatMap(\.runs)) }
        }
        return .success
    }

    private static func text(_ runs: [RunView]) -> String {
        var table = Table("RUN", "BATCH", "CASE", "BUILDS", "PLATFORM", "OS", "STATE", "VERDICT", "ATTEMPTS")
        for run in runs {
            table.add(
                run.id,
                run.batch,
                run.pins.caseName,
                PlainText.path(run.buildNames),
                run.pins.platform.rawValue,
                run.pins.os.description,
                run.state.rawValue,
                run.verdict?.rawValue ?? "",
                "\(run.attempts.count)"
            )
        }
        return table.text(ifEmpty: "There are no runs. Queue some with `berth submit`.")
    }
}
