import BerthCore
import BerthSystem
import Foundation

/// Says how to look at a kept device.
struct DeviceOpenCommand: Command {
    static let description = CommandDescription(
        name: "device open",
        summary: "Say what to type, and where, to look at a kept device; with --here boot it on this machine.",
        operands: [DeviceReference.operand],
        options: [
            .init(name: "--here", kind: .flag, help: "boot the simulator, which must lie on this machine")
        ],
        discussion: """
            What is looked at is not changed back: the evidence of the attempt is in the archive, and `berth run show` reads it
            there. Take the slot for yourself first (`berth slot shell`), so that no attempt runs beside you.
            """
    )

    private let device: String
    private let isHere: Bool

    init(_ arguments: ParsedArguments) throws {
        device = arguments.operands[0]
        isHere = arguments.has("--here")
        if isHere, arguments.has("--json") { throw arguments.failure("--here and --json do not go together") }
    }

    func run(_ context: CommandContext) async throws -> ExitCode {
        let answer = try await context.client.get(APIClient.path("devices"), as: [DeviceView].self)
        let view = try DeviceReference.resolve(device, among: answer.value)
        if context.json {
            context.console.write(String(decoding: try CanonicalJSON.encode(view), as: UTF8.self) + "\n")
            return .success
        }
        if isHere {
            try await boot(view)
            context.console.write(PlainText.safe("Booted \(view.device.udid).") + "\n")
            context.console.write(DeviceInstructions.looking(view))
            return .success
        }
        let hosts = try await context.client.get(APIClient.path("hosts"), as: [HostView].self).value
        let host = hosts.first { $0.host.name == view.host }?.host
        context.console.write(DeviceInstructions.text(view, host: host))
        return .success
    }

    private func boot(_ view: DeviceView) async throws {
        let places = view.places
        guard let set = places.deviceSet else {
            throw CommandFailure(
                .usage,
                "\(view.device.udid) is a phone: it is there as it is, --here boots simulators"
            )
        }
        let place = "\(set)/\(view.device.udid)"
        guard LocalSlot.isHere(places), FileManager.default.fileExists(atPath: place) else {
            let machine = ProcessInfo.processInfo.hostName
            throw CommandFailure(
                .badInput,
                PlainText.safe(
                    "\(view.device.udid) does not lie on this machine (\(machine)) as this user sees it: it lies on "
                        + "\(places.machine), in \(place); leave --here out to see how to get there"
                )
            )
        }
        let environment = ProcessInfo.processInfo.environment.merging(places.environment ?? [:]) { _, slots in slots }
        let result = try await CommandRunner.run(
            ProcessSpecification(
                executable: places.xcrun,
                arguments: ["simctl", "--set", set, "bootstatus", view.device.udid, "-b"],
                environment: environment
            ),
            timeout: .seconds(180)
        )
        guard result.termination == .exited(0) else {
            let words = (result.errorText + result.outputText).trimmingCharacters(in: .whitespacesAndNewlines)
            let problem = "cannot boot \(view.device.udid): \(result.termination): \(words)"
            throw CommandFailure(.failure, PlainText.safe(problem))
        }
    }
}
