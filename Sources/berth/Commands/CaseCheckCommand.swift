import BerthCore

/// Checks a case file without adding it.
struct CaseCheckCommand: LocalCommand {
    static let description = CommandDescription(
        name: "case check",
        summary: "Check a case file; needs no coordinator.",
        operands: [.init(name: "FILE", help: "the case, in JSON (docs/formats.md)")],
        discussion: "What is wrong is told with file, line, place and the values that there are."
    )

    private let path: String

    init(_ arguments: ParsedArguments) throws {
        path = arguments.operands[0]
    }

    func runAlone(_ console: Console, json: Bool) throws -> ExitCode? {
        let file = try CaseFile(path: path)
        if json {
            console.write("\(String(decoding: try CanonicalJSON.encode(file.definition), as: UTF8.self))\n")
        } else {
            console.write("\(path) is a case: \(file.definition.summary)\n")
        }
        return .success
    }

    func run(_ context: CommandContext) async throws -> ExitCode {
        try runAlone(context.console, json: context.json) ?? .success
    }
}
