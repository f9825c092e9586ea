import BerthCore

/// A way to take a part of the farm out of use.
protocol ServiceVerb: Sendable {
    /// Its word, in the command and in the API.
    static var word: String { get }
    /// What it does to a part, in a sentence.
    static func summary(_ part: String) -> String
}

/// Lets what runs there end, and begins nothing.
enum Drain: ServiceVerb {
    static let word = "drain"
    static func summary(_ part: String) -> String { "Let what runs on \(part) end, and begin nothing there." }
}

/// The same, under the name of work on it.
enum Maintenance: ServiceVerb {
    static let word = "maintenance"
    static func summary(_ part: String) -> String { "Say that somebody works on \(part): no run begins there." }
}

/// Takes a part of the farm out of use.
struct TakeOutOfUseCommand<Verb: ServiceVerb, Part: FarmPart>: Command {
    static var description: CommandDescription {
        CommandDescription(
            name: "\(Part.kind) \(Verb.word)",
            summary: Verb.summary(Part.anyOne),
            operands: Part.operands,
            options: [.reason],
            discussion:
                "Runs wait meanwhile; `berth why RUN` tells by whom and why. `berth \(Part.kind) resume` ends it."
        )
    }

    private let name: String?
    private let reason: String

    init(_ arguments: ParsedArguments) throws {
        name = arguments.operands.first
        reason = try arguments.reason()
    }

    func run(_ context: CommandContext) async throws -> ExitCode {
        let answer = try await context.client.post(
            Part.path(name, Verb.word),
            ServiceRequest(reason: reason),
            as: ServiceState.self
        )
        context.show(answer) { PlainText.safe("\($0)") + "\n" }
        return .success
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

extension CommandDescription.Option {
    /// Why somebody changes what goes where.
    static let reason = CommandDescription.Option(
        name: "--reason",
        kind: .value("TEXT"),
        help: "why, for who wants to change it later",
        isRequired: true
    )
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
