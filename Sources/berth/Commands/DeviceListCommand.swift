import BerthCore

/// Lists the devices that are kept for people.
struct DeviceListCommand: Command {
    static let description = CommandDescription(
        name: "device list",
        summary: "List the simulators that are preserved and the phones that are held after failures."
    )

    init(_ arguments: ParsedArguments) throws {}

    func run(_ context: CommandContext) async throws -> ExitCode {
        let answer = try await context.client.get(APIClient.path("devices"), as: [DeviceView].self)
        context.show(answer, Self.text)
        return .success
    }

    /// A table, and a line for each order to release that was refused or is not done.
    static func text(_ devices: [DeviceView]) -> String {
        var table = Table(
            "DEVICE",
            "STATE",
            "SLOT",
            "HOST",
            "RUN",
            "ATTEMPT",
            "CASE",
            "OUTCOME",
            "CAUSE",
            "SINCE",
            "SIZE"
        )
        var notes = ""
        for view in devices {
            let device = view.device
            table.add(
                device.udid,
                device.stage.rawValue,
                view.slot,
                view.host,
                device.run,
                device.attempt,
                device.caseName ?? "",
                device.outcome?.rawValue ?? "",
                device.cause?.code ?? "",
                PlainText.time(device.since),
                device.size.map(PlainText.size) ?? ""
            )
            notes += self.notes(view)
        }
        return table.text(ifEmpty: "No device is kept.") + (notes.isEmpty ? "" : "\n" + notes)
    }

    private static func notes(_ view: DeviceView) -> String {
        var lines: [String] = []
        if let since = view.offlineSince {
            lines.append("\(view.device.udid) as it was at \(PlainText.time(since)), when \(view.slot) was cut off")
        }
        if let evidence = view.device.evidence {
            lines.append("\(view.device.udid) is kept without its attempt's evidence: \(evidence)")
        }
        if let until = view.device.until, view.device.stage == .held {
            lines.append("\(view.device.udid) is cleaned by itself at \(PlainText.time(until))")
        }
        switch view.release?.state {
        case .ordered: lines.append("\(view.device.udid) is being released, as \(view.release?.by ?? "") ordered")
        case .refused:
            let cause = view.release?.cause?.description ?? "unknown"
            lines.append("\(view.device.udid) was not released: \(cause)")
        case .released, nil: break
        }
        return lines.map { "\(PlainText.safe($0))\n" }.joined()
    }
}
