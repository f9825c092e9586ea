import BerthCore

/// Adds a user's case.
struct CaseAddCommand: Command {
    static let description = CommandDescription(
        name: "case add",
        summary: "Add a case of your own, so that runs can be submitted with it.",
        operands: [.init(name: "FILE", help: "the case, in JSON (docs/formats.md)")],
        discussion: """
            The definition is archived, and every run pins its digest. A changed case needs a higher version; runs that
            were submitted before keep theirs.
            """
    )

    private let path: String

    init(_ arguments: ParsedArguments) throws {
        path = arguments.operands[0]
    }

    func run(_ context: CommandContext) async throws -> ExitCode {
        let file = try CaseFile(path: path)
        let answer = try await context.client.post(APIClient.path("cases"), file: file.bytes, as: CaseRecord.self)
        context.show(answer) { record in
            let news = answer.status == 201 ? "added" : "was there already"
            return "case \(record.definition.name) \(news), version \(record.definition.version), \(record.digest)\n"
        }
        return .success
    }
}
