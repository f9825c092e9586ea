import BerthCore

/// Lets go of a kept device.
struct DeviceReleaseCommand: Command {
    static let description = CommandDescription(
        name: "device release",
        summary: "Let go of a kept device: a simulator is deleted, a phone is cleaned and proved clean.",
        operands: [DeviceReference.operand],
        options: [
            .init(
                name: "--unclean",
                kind: .value("REASON"),
                help: "take a phone as it is although it cannot be proved clean; the reason goes to the agent's log"
            )
        ],
        discussion: """
            Nothing but this, and `berth-agent release` on the host, destroys what an attempt left on a preserved simulator; its
            evidence is in the archive before. A phone that is not proved clean stays in quarantine, and the status is 65.
            """
    )

    private let device: String
    private let unclean: String?

    init(_ arguments: ParsedArguments) throws {
        device = arguments.operands[0]
        unclean = arguments.value("--unclean")
        if unclean?.isEmpty == true { throw arguments.failure("--unclean needs a reason") }
    }

    func run(_ context: CommandContext) async throws -> ExitCode {
        let devices = try await context.client.get(APIClient.path("devices"), as: [DeviceView].self).value
        let view = try DeviceReference.resolve(device, among: devices)
        let udid = view.device.udid
        guard unclean == nil || view.device.stage != .preserved else {
            throw CommandFailure(.usage, "\(udid) is a simulator, which is deleted: --unclean is for phones")
        }
        let path = APIClient.path("devices", udid, "release")
        var answer = try await context.client.post(path, ReleaseRequestBody(unclean: unclean), as: ReleaseView.self)
        let request = answer.value.request
        if answer.value.state == .ordered, !context.json {
            context.console.write("\(view.slot) is at it; cleaning a phone takes its time.\n")
        }
        while answer.value.state == .ordered, answer.value.request == request {
            try await Task.sleep(for: context.pollInterval)
            answer = try await context.client.get(path, as: ReleaseView.self)
        }
        guard answer.value.request == request else {
            let other = PlainText.safe(answer.value.by)
            throw CommandFailure(.failure, "\(udid): a later order by \(other) has taken the place of this one")
        }
        guard answer.value.state == .released else {
            let cause = answer.value.cause?.description ?? "its agent does not say why"
            throw CommandFailure(.badInput, PlainText.safe("device \(udid) is still kept by \(view.slot): \(cause)"))
        }
        context.show(answer) { _ in PlainText.safe("Released \(udid) of \(view.slot) on \(view.host).\n") }
        return .success
    }
}
