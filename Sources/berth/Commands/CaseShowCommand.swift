import BerthCore

/// Shows one case.
struct CaseShowCommand: Command {
    static let description = CommandDescription(
        name: "case show",
        summary: "Show a case with its steps, and what each check means.",
        operands: [.init(name: "NAME", help: "such as update; `berth case list` has all")]
    )

    private let name: String

    init(_ arguments: ParsedArguments) throws {
        name = arguments.operands[0]
    }

    func run(_ context: CommandContext) async throws -> ExitCode {
        let answer = try await context.client.get(APIClient.path("cases", name), as: CaseRecord.self)
        context.show(answer, Self.text)
        return .success
    }

    private static func text(_ record: CaseRecord) -> String {
        let definition = record.definition
        var text = PlainText.facts([
            ("name", definition.name), ("version", "\(definition.version)"), ("digest", record.digest.description),
            ("scenario", definition.scenario),
            ("needs", definition.features.isEmpty ? "nothing special" : definition.features.joined(separator: ", ")),
        ])
        text += "\nSteps:\n"
        for (index, step) in definition.steps.enumerated() {
            var decides = ""
            if case .launch(let launch) = step, !launch.decides.isEmpty {
                decides = ", which decides \(launch.decides.map(\.text).joined(separator: ", "))"
            }
            text += "  \(index + 1). \(PlainText.safe(step.title))\(decides)\n"
        }
        text += "\nChecks:\n"
        for check in definition.checks { text += "  \(check): \(check.meaning ?? "")\n" }
        return text
    }
}
