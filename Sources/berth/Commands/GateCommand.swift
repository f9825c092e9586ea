import BerthCore
import BerthSystem

/// Asks the gate for a release verdict.
struct GateCommand: Command {
    static let description = CommandDescription(
        name: "gate",
        summary: "Ask for the release verdict over a new build: pass, blocked or incomplete.",
        options: [
            .init(
                name: "--old",
                kind: .value("REF"),
                help: "the old build: ID, digits of it, or name",
                isRequired: true
            ),
            .init(
                name: "--transitional",
                kind: .value("REF"),
                help: "the build that is installed between old and new"
            ),
            .init(name: "--new", kind: .value("REF"), help: "the new build", isRequired: true),
            .init(
                name: "--policy",
                kind: .value("FILE"),
                help: "what must have passed; without it the coordinator's standard policy"
            ),
        ],
        discussion: "Exit status: 0 pass, 1 blocked, 2 incomplete."
    )

    private let request: GateRequest

    init(_ arguments: ParsedArguments) throws {
        let policy = try arguments.value("--policy").map { file in
            do {
                return try GatePolicy.parse(try DurableFile.read(file, limit: 1 << 20))
            } catch let error as FormatError {
                throw CommandFailure(.badInput, "\(file): \(error)")
            }
        }
        request = GateRequest(
            policy: policy,
            old: arguments.value("--old") ?? "",
            transitional: arguments.value("--transitional"),
            new: arguments.value("--new") ?? ""
        )
    }

    func run(_ context: CommandContext) async throws -> ExitCode {
        let answer = try await context.client.post(APIClient.path("gate"), request, as: GateReport.self)
        context.show(answer, Self.text)
        switch answer.value.verdict {
        case .pass: return .success
        case .blocked: return .blocked
        case .incomplete: return .incomplete
        }
    }

    private static func text(_ report: GateReport) -> String {
        let path = PlainText.path(zip(report.buildNames, report.path).map { "\($0) (\($1.short))" })
        var text = PlainText.safe("\(report.verdict.rawValue): \(path) under policy \(report.policy)") + "\n\n"
        var table = Table("PLATFORM", "CASE", "STATE", "ENTRIES", "REASON")
        for finding in report.findings {
            let broken = finding.checks.filter { $0.state != .held }.map { "\($0.id) \($0.state.rawValue)" }
            table.add(
                finding.platform.rawValue,
                finding.caseName,
                finding.state.rawValue,
                finding.entries.map(String.init).joined(separator: ","),
                ([finding.reason] + broken).joined(separator: "; ")
            )
        }
        text += table.text(ifEmpty: "The policy asks for nothing.") + "\n"
        return text + report.heads.map { LedgerCommand.head($0) + "\n" }.joined()
    }
}
