import BerthCore

/// The program as a whole: picks the command, gives it what it needs, turns errors into exit statuses.
struct Program: Sendable {
    static let commands: [any Command.Type] = [
        BuildAddCommand.self, BuildListCommand.self, BuildShowCommand.self, HostAddCommand.self, HostListCommand.self,
        HostTrustCommand.self, HostChangeCommand.self, HostRemoveCommand.self,
        CaseCheckCommand.self, CaseAddCommand.self, CaseListCommand.self, CaseShowCommand.self, PlanCheckCommand.self,
        SubmitCommand.self, ReplayCommand.self, CancelCommand.self, WatchCommand.self, RunListCommand.self,
        RunShowCommand.self,
        DeviceListCommand.self, DeviceOpenCommand.self, DeviceReleaseCommand.self, SlotShellCommand.self,
        TakeOutOfUseCommand<Drain, OneSlot>.self, TakeOutOfUseCommand<Maintenance, OneSlot>.self,
        ResumeCommand<OneSlot>.self,
        TakeOutOfUseCommand<Drain, OneHost>.self, TakeOutOfUseCommand<Maintenance, OneHost>.self,
        ResumeCommand<OneHost>.self,
        TakeOutOfUseCommand<Drain, WholeFarm>.self, TakeOutOfUseCommand<Maintenance, WholeFarm>.self,
        ResumeCommand<WholeFarm>.self,
        ReserveCommand.self, ReservationListCommand.self, ReservationEndCommand.self,
        LimitSetCommand.self, LimitListCommand.self,
        TokenAddCommand.self, TokenListCommand.self, TokenRevokeCommand.self,
        LedgerCommand.self,
        GateCommand.self, StatusCommand.self, WhyCommand.self, AuditCommand.self, DoctorCommand.self,
    ]

    let environment: [String: String]
    let console: Console
    var pollInterval = Duration.seconds(1)

    /// Runs one command line, without the program's own name.
    func run(_ words: [String]) async -> ExitCode {
        do {
            return try await dispatch(words)
        } catch {
            let failure = CommandFailure(error)
            console.writeError("berth: \(failure.message)\n")
            return failure.status
        }
    }

    private func dispatch(_ words: [String]) async throws -> ExitCode {
        guard let first = words.first else { throw UsageError(message: "there is no command", command: "") }
        if first == "--version" || first == "version" {
            console.write("berth \(BerthVersion.text)\n")
            return .success
        }
        if ["--help", "-h", "help"].contains(first) {
            let topic = Array(words.dropFirst())
            console.write(topic.isEmpty ? Self.help(under: "") : try help(topic))
            return .success
        }
        guard let (command, rest) = Self.find(words) else { return try group(words) }
        let arguments = try ParsedArguments(rest, for: command.description)
        if arguments.has("--help") {
            console.write(command.description.help)
            return .success
        }
        let ready = try command.init(arguments)
        if let local = ready as? any LocalCommand {
            if let status = try local.runAlone(console, json: arguments.has("--json")) { return status }
        }
        let context = CommandContext(
            client: try APIClient(CoordinatorAccess(arguments, environment: environment)),
            console: console,
            json: arguments.has("--json"),
            style: TextStyle(terminal: console.terminal(), environment: environment),
            pollInterval: pollInterval
        )
        return try await ready.run(context)
    }

    private static func find(_ words: [String]) -> (any Command.Type, [String])? {
        for length in [2, 1] where words.count >= length {
            let name = words.prefix(length).joined(separator: " ")
            if let command = commands.first(where: { $0.description.name == name }) {
                return (command, Array(words.dropFirst(length)))
            }
        }
        return nil
    }

    /// Words that name no command: a group's help, or a complaint with the nearest name.
    private func group(_ words: [String]) throws -> ExitCode {
        let first = words[0]
        let members = Self.commands.map { $0.description.name }.filter { $0.hasPrefix("\(first) ") }
        let asksForHelp = words.dropFirst().contains { ["--help", "-h"].contains($0) }
        if !members.isEmpty, asksForHelp {
            console.write(Self.help(under: first))
            return .success
        }
        if !members.isEmpty {
            let names = members.map { String($0.dropFirst(first.count + 1)) }
            guard words.count > 1 else {
                throw UsageError(message: "`\(first)` needs one of \(names.joined(separator: ", "))", command: first)
            }
            let guess = NearestName.of(words[1], among: names).map { "; did you mean `\(first) \($0)`?" } ?? ""
            throw UsageError(message: "there is no command `\(first) \(words[1])`\(guess)", command: first)
        }
        let names = Self.commands.map { $0.description.name.split(separator: " ").first.map(String.init) ?? "" }
        let guess = NearestName.of(first, among: names).map { "; did you mean `\($0)`?" } ?? ""
        throw UsageError(message: "there is no command `\(first)`\(guess)", command: "")
    }

    private func help(_ topic: [String]) throws -> String {
        if let (command, _) = Self.find(topic) { return command.description.help }
        let page = Self.help(under: topic[0])
        guard Self.commands.contains(where: { $0.description.name.hasPrefix("\(topic[0]) ") }) else {
            throw UsageError(message: "there is no command `\(topic[0])`", command: "")
        }
        return page
    }

    /// The overview of all commands, or of those of one group.
    static func help(under group: String) -> String {
        let rows = commands.map { $0.description }.filter { group.isEmpty || $0.name.hasPrefix("\(group) ") }
            .map { ($0.name, $0.summary) }
        var text = "Berth \(BerthVersion.text): a device farm for upgrade-path regression runs.\n"
        text += "\nUsage: berth COMMAND [--help]\n"
        text += CommandDescription.section("Commands", rows)
        text += CommandDescription.section(
            "Environment",
            [
                ("BERTH_COORDINATOR", "where the coordinator listens, such as http://farm.example:8750"),
                ("BERTH_TOKEN", "your token"), ("BERTH_TOKEN_FILE", "file that holds your token"),
            ]
        )
        text += CommandDescription.section(
            "Exit status",
            ExitCode.allCases.map { ("\($0.rawValue)", $0.meaning) }
        )
        return text
    }
}
