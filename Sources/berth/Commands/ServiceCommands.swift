import BerthCore

/// Lets what runs on a part of the farm end, and begins nothing there.
struct DrainCommand<Part: FarmPart>: Command {
    static var description: CommandDescription {
        CommandDescription(
            name: "\(Part.kind) drain",
            summary: "Let what runs on \(Part.anyOne) end, and begin nothing there.",
            operands: Part.operands,
            options: [ServiceChange.reason],
            discussion: ServiceChange.discussion(Part.kind)
        )
    }

    private let change: ServiceChange

    init(_ arguments: ParsedArguments) throws { change = try ServiceChange(arguments) }

    func run(_ context: CommandContext) async throws -> ExitCode {
        try await change.make(Part.path(change.name, "drain"), context)
    }
}

/// The same, under the name of work on it.
struct MaintenanceCommand<Part: FarmPart>: Command {
    static var description: CommandDescription {
        CommandDescription(
            name: "\(Part.kind) maintenance",
            summary: "Say that somebody works on \(Part.anyOne): no run begins there.",
            operands: Part.operands,
            options: [ServiceChange.reason],
            discussion: ServiceChange.discussion(Part.kind)
        )
    }

    private let change: ServiceChange

    init(_ arguments: ParsedArguments) throws { change = try ServiceChange(arguments) }

    func run(_ context: CommandContext) async throws -> ExitCode {
        try await change.make(Part.path(change.name, "maintenance"), context)
    }
}

/// Puts a part of the farm back into use.
struct ResumeCommand<Part: FarmPart>: Command {
    static var description: CommandDescription {
        CommandDescription(
            name: "\(Part.kind) resume",
            summary: "Put \(Part.anyOne) back into use.",
            operands: Part.operands,
            discussion: Part.resumeDiscussion
        )
    }

    private let name: String?

    init(_ arguments: ParsedArguments) throws { name = arguments.operands.first }

    func run(_ context: CommandContext) async throws -> ExitCode {
        let answer = try await context.client.post(
            Part.path(name, "resume"),
            [String: String](),
            as: ResumedView.self
        )
        context.show(answer) { resumed in
            let former = resumed.former.map { "Back in use: \($0)" } ?? "It was in use: \(Part.words(name))"
            return ([former] + resumed.remaining.map { "Still: \($0)" }).map { PlainText.safe($0) + "\n" }.joined()
        }
        return .success
    }
}

/// What draining and maintenance have in common.
struct ServiceChange: Sendable {
    static let reason = CommandDescription.Option(
        name: "--reason",
        kind: .value("TEXT"),
        help: "why, for who wants to change it later",
        isRequired: true
    )

    static func discussion(_ kind: String) -> String {
        "Runs wait meanwhile; `berth why RUN` tells by whom and why. `berth \(kind) resume` ends it."
    }

    let name: String?
    private let reason: String

    /// - Throws: `UsageError`
    init(_ arguments: ParsedArguments) throws {
        name = arguments.operands.first
        reason = try arguments.reason()
    }

    func make(_ path: String, _ context: CommandContext) async throws -> ExitCode {
        let answer = try await context.client.post(path, ServiceRequest(reason: reason), as: ServiceState.self)
        context.show(answer) { PlainText.safe("\($0)") + "\n" }
        return .success
    }
}

extension ParsedArguments {
    /// The value of `--reason`.
    /// - Throws: `UsageError`
    func reason() throws(UsageError) -> String {
        let reason = value("--reason") ?? ""
        guard reason.contains(where: { !$0.isWhitespace }), reason.utf8.count <= ServiceRequest.reasonLimit else {
            throw failure("--reason needs 1 to \(ServiceRequest.reasonLimit) bytes of words")
        }
        return reason
    }
}
