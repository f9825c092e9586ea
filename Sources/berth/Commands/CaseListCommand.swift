import BerthCore

/// Lists the cases.
struct CaseListCommand: Command {
    static let description = CommandDescription(
        name: "case list",
        summary: "List the cases: those of every farm and your own, in their latest version."
    )

    init(_ arguments: ParsedArguments) throws {}

    func run(_ context: CommandContext) async throws -> ExitCode {
        let answer = try await context.client.get(APIClient.path("cases"), as: [CaseRecord].self)
        context.show(answer) { records in
            var table = Table("NAME", "VERSION", "CHECKS", "NEEDS", "SCENARIO")
            for record in records {
                let definition = record.definition
                table.add(
                    definition.name,
                    record.isBuiltIn ? "built in" : "\(definition.version)",
                    definition.checks.map(\.text).joined(separator: " "),
                    definition.features.isEmpty ? "-" : definition.features.joined(separator: " "),
                    definition.scenario
                )
            }
            return table.text(ifEmpty: "There are no cases.")
        }
        return .success
    }
}
