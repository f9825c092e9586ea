import BerthCore

/// Shows the farm at a glance.
struct StatusCommand: Command {
    static let description = CommandDescription(
        name: "status",
        summary: "Show the farm at a glance: hosts, slots and how many runs wait."
    )

    init(_ arguments: ParsedArguments) throws {}

    func run(_ context: CommandContext) async throws -> ExitCode {
        let answer = try await context.client.get(APIClient.path("status"), as: FarmStatus.self)
        context.show(answer) { farm in
            PlainText.safe("\(farm.coordinator), Berth \(farm.version)")
                + ": \(farm.queued) runs queued, \(farm.running) running\n"
                + (farm.services ?? []).filter { $0.scope == .farm }.map { PlainText.safe("\($0)") + "\n" }.joined()
                + "\n" + HostListCommand.text(farm.hosts)
        }
        return .success
    }
}
