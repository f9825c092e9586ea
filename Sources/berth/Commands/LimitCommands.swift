import BerthCore

/// Sets how many slots may be held at once.
struct LimitSetCommand: Command {
    static let description = CommandDescription(
        name: "limit set",
        summary: "Limit how many slots a submitter's runs, or runs with a label, may hold at once.",
        operands: [
            .init(name: "SUBJECT", help: "submitter:NAME, or label:KEY:VALUE"),
            .init(name: "N|none", help: "a whole number from 0, which lets none begin; none lifts the limit"),
        ],
        discussion: "What holds a slot already keeps it: a lower limit ends nothing."
    )

    private let request: LimitRequest

    init(_ arguments: ParsedArguments) throws {
        let parts = arguments.operands[0].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            .map(String.init)
        guard parts.count == 2, let subject = RunLimit.Subject(rawValue: parts[0]), !parts[1].isEmpty else {
            let given = arguments.operands[0].debugDescription
            throw arguments.failure("a limit is for submitter:NAME or label:KEY:VALUE, not \(given)")
        }
        if subject == .label { _ = try arguments.label(parts[1], "a limit's label") }
        var most: Int?
        if arguments.operands[1] != "none" {
            guard let number = Int(arguments.operands[1]), number >= 0 else {
                throw arguments.failure(
                    "a limit is a whole number from 0, or none, not \(arguments.operands[1].debugDescription)"
                )
            }
            most = number
        }
        request = LimitRequest(subject: subject, name: parts[1], most: most)
    }

    func run(_ context: CommandContext) async throws -> ExitCode {
        let answer = try await context.client.post(APIClient.path("limits"), request, as: [LimitView].self)
        context.show(answer, LimitListCommand.text)
        return .success
    }
}

/// Lists limits with what is used of them.
struct LimitListCommand: Command {
    static let description = CommandDescription(
        name: "limit list",
        summary: "List the limits with how many slots are held of them now."
    )

    init(_ arguments: ParsedArguments) throws {}

    func run(_ context: CommandContext) async throws -> ExitCode {
        context.show(try await context.client.get(APIClient.path("limits"), as: [LimitView].self), Self.text)
        return .success
    }

    static func text(_ limits: [LimitView]) -> String {
        var table = Table("SUBJECT", "MOST", "HELD")
        for limit in limits { table.add("\(limit.subject.rawValue):\(limit.name)", "\(limit.most)", "\(limit.open)") }
        return table.text(ifEmpty: "Nothing is limited.")
    }
}
