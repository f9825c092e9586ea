import BerthCore

/// Removes a host from the farm.
struct HostRemoveCommand: Command {
    static let description = CommandDescription(
        name: "host remove",
        summary: "Remove a host with its slots; what was recorded of them stays.",
        operands: [.init(name: "HOST", help: "the host's name")],
        discussion: """
            A host that is at work is not removed: `host drain` it first, and wait until `host list` shows none of its slots
            busy. Agents on it are not ended, they only wait for a coordinator. It can be enrolled again at any time.
            """
    )

    private let name: String

    init(_ arguments: ParsedArguments) throws {
        name = arguments.operands[0]
    }

    func run(_ context: CommandContext) async throws -> ExitCode {
        let answer = try await context.client.post(
            APIClient.path("hosts", name, "remove"),
            [String: String](),
            as: HostRecord.self
        )
        context.show(answer) { PlainText.safe("\($0.name) at \($0.hostName) port \($0.port) is removed") + "\n" }
        return .success
    }
}
