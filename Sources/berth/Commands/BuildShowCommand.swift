import BerthCore

/// Shows one build.
struct BuildShowCommand: Command {
    static let description = CommandDescription(
        name: "build show",
        summary: "Show what a build says about itself.",
        operands: [.init(name: "REF", help: "a build's ID, six or more of its digits, or its name")]
    )

    private let reference: String

    init(_ arguments: ParsedArguments) throws {
        reference = arguments.operands[0]
    }

    func run(_ context: CommandContext) async throws -> ExitCode {
        let answer = try await context.client.get(APIClient.path("builds", reference), as: BuildRecord.self)
        context.show(answer) { build in
            let facts = build.description
            var lines = [
                ("name", facts.name), ("ID", build.id.description), ("bundle", facts.bundleIdentifier),
                ("version", "\(facts.version) (\(facts.number))"), ("platform", facts.platform.rawValue),
                ("minimum OS", facts.minimumOS ?? "not given"), ("executable", facts.executable),
                ("size", PlainText.size(build.size)), ("archived", PlainText.time(build.archivedAt)),
            ]
            guard let signing = facts.signing else { return PlainText.facts(lines) }
            lines.append(("identifier", signing.identifier ?? "not signed"))
            lines.append(("team ID", signing.teamIdentifier ?? "none"))
            let groups = signing.accessGroups.isEmpty ? "none" : signing.accessGroups.joined(separator: ", ")
            lines.append(("access groups", groups))
            for note in signing.notes { lines.append(("note", note)) }
            var text = PlainText.facts(lines)
            guard let entitlements = signing.entitlements else { return text + "no entitlements\n" }
            text += "\nentitlements, from the \(signing.source ?? "build"):\n"
            for line in entitlements.split(separator: "\n") {
                text += PlainText.safe(String(line).replacing("\t", with: "    ")) + "\n"
            }
            return text
        }
        return .success
    }
}
