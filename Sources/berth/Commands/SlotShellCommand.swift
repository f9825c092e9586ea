import BerthCore
import BerthSystem
import Foundation

/// Manual work on a slot's device, under its lock.
struct SlotShellCommand: Command {
    static let description = CommandDescription(
        name: "slot shell",
        summary: "Open a shell on a slot's host that holds the slot's device for manual work.",
        operands: [.init(name: "SLOT", help: "the slot's name")],
        options: [
            .init(
                name: "--login",
                kind: .value("USER"),
                help: "log in on the host as this user; otherwise as ssh does"
            ),
            .init(name: "--print", kind: .flag, help: "print the command line instead of running it"),
        ],
        discussion: """
            The slot's agent lets go of its device as soon as it is idle, and the slot takes no run until the shell and all that
            it started have ended. On the slot's host this runs `berth-agent shell`; elsewhere it runs ssh with your own login,
            since the farm's key can open no shell. The state folder is the agent's user's: on a remote host sudo is used
            unless --login names that user.
            """
    )

    private let slot: String
    private let login: String?
    private let isPrinted: Bool

    init(_ arguments: ParsedArguments) throws {
        slot = arguments.operands[0]
        login = arguments.value("--login")
        isPrinted = arguments.has("--print") || arguments.has("--json")
    }

    func run(_ context: CommandContext) async throws -> ExitCode {
        let hosts = try await context.client.get(APIClient.path("hosts"), as: [HostView].self).value
        let (host, places) = try Self.find(slot, in: hosts)
        let isHere = LocalSlot.isHere(places)
        let words =
            if isHere {
                [places.agent, "shell", "--state", places.state, "--yield"]
            } else {
                RemoteShell.loginWords(host, user: login) + [RemoteShell.manualWork(places, as: login)]
            }
        if isPrinted {
            let line = words.map(RemoteShell.quoted).joined(separator: " ")
            context.console.write(PlainText.safe(line) + "\n")
            return .success
        }
        let program = isHere ? places.agent : "/usr/bin/ssh"
        let error = replaceProcess(program, arguments: words, environment: ProcessInfo.processInfo.environment)
        throw CommandFailure(.failure, "\(error); `berth slot shell \(slot) --print` shows the command line")
    }

    /// A slot's host and place on it.
    /// - Throws: `CommandFailure` that says what there is
    static func find(_ name: String, in hosts: [HostView]) throws -> (HostRecord, SlotPlaces) {
        let slots = hosts.flatMap(\.slots)
        guard let view = hosts.first(where: { $0.slots.contains { $0.name == name } }),
            let slot = view.slots.first(where: { $0.name == name })
        else {
            let names = slots.map(\.name).joined(separator: ", ")
            throw CommandFailure(
                .badInput,
                "there is no slot \(name.prefix(80).debugDescription); there are \(names.isEmpty ? "none" : names)"
            )
        }
        guard let places = slot.places else {
            throw CommandFailure(
                .refusedForNow,
                "slot \(name) on \(view.host.name) is \(slot.state.rawValue), and its agent has not said where it lies on its host "
                    + "since the coordinator's start; on the host: berth-agent shell --state DIR"
            )
        }
        return (view.host, places)
    }
}
