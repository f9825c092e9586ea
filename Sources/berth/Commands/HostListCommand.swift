import BerthCore

/// Lists hosts and slots.
struct HostListCommand: Command {
    static let description = CommandDescription(name: "host list", summary: "List the hosts and their slots.")

    init(_ arguments: ParsedArguments) throws {}

    func run(_ context: CommandContext) async throws -> ExitCode {
        let answer = try await context.client.get(APIClient.path("hosts"), as: [HostView].self)
        context.show(answer, Self.text)
        return .success
    }

    /// A table of hosts, and one of slots if there are any.
    static func text(_ hosts: [HostView]) -> String {
        var table = Table("HOST", "ADDRESS", "USER", "STATE", "KEY", "CLOCK", "NEXT TRY", "PROBLEM")
        var slots = Table("SLOT", "HOST", "PLATFORM", "MODEL", "OS", "STATE", "ATTEMPT", "KEPT", "REASON")
        for view in hosts {
            table.add(
                view.host.name,
                "\(view.host.hostName):\(view.host.port)",
                view.host.user,
                view.state.rawValue,
                view.fingerprint,
                view.clockSkew.map { "\($0 < 0 ? "" : "+")\($0) ms" } ?? "",
                view.nextTry.map(PlainText.time) ?? "",
                view.problem ?? ""
            )
            for slot in view.slots {
                slots.add(
                    slot.name,
                    slot.host,
                    slot.device.platform.rawValue,
                    slot.device.model,
                    slot.device.os.description,
                    slot.condition,
                    slot.attempt ?? "",
                    slot.kept.map { $0 == 0 ? "" : "\($0)" } ?? "",
                    SlotReasonText.text(slot)
                )
            }
        }
        return table.text(ifEmpty: "No host is enrolled. Add one with `berth host add`.")
            + (slots.isEmpty ? "" : "\n" + slots.text(ifEmpty: ""))
    }
}
