import BerthCore

/// Tells why a run waits, or why a slot idles.
struct WhyCommand: Command {
    static let description = CommandDescription(
        name: "why",
        summary: "Tell why a run waits, slot by slot, or why a slot idles and what waits.",
        operands: [.init(name: "RUN|SLOT", help: "a run's ID, such as r-12, or a slot's name")],
        discussion: """
            It is what the scheduler decides by at this moment: what a slot lacks for the run, who took it out of use or reserved
            it, which limit is reached, what its agent says.
            """
    )

    private let name: String

    init(_ arguments: ParsedArguments) throws {
        name = arguments.operands[0]
    }

    func run(_ context: CommandContext) async throws -> ExitCode {
        if name.wholeMatch(of: /r-\d+/) != nil {
            let answer = try await context.client.get(APIClient.path("runs", name, "why"), as: RunWhyView.self)
            context.show(answer, WhyText.text)
        } else {
            let answer = try await context.client.get(APIClient.path("slots", name, "why"), as: SlotWhyView.self)
            context.show(answer, WhyText.text)
        }
        return .success
    }
}
