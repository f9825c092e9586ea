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
            + (slots.isEmpty ? "" : "\n" + slots.text(ifEmpty: "")) + hosts.map(keyText).joined()
    }

    /// What to do about a host whose key is, or will be, another one.
    private static func keyText(_ view: HostView) -> String {
        guard let change = view.keyChange else { return "" }
        var text = ""
        if let shown = change.shown {
            let facts = [
                ("pinned", view.fingerprint), ("shown", shown),
                ("since", change.shownSince.map(PlainText.time) ?? "unknown"),
            ]
            text += "\nHost \(view.host.name) shows another key than the pinned one; it is refused.\n"
            text += PlainText.facts(facts, indent: 2)
            text += "If the host was set up anew, compare with `ssh-keygen -lf` on its own console, then:\n"
            text += PlainText.safe("  berth host trust \(view.host.name) --fingerprint \(shown)") + "\n"
        }
        if let expected = change.expected {
            let by = change.expectedBy.map { " by \($0)" } ?? ""
            text += "\n" + PlainText.safe("Host \(view.host.name) is announced\(by) to show the key \(expected) next.")
            text += "\n"
        }
        return text
    }
}
