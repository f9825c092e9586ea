import BerthCore

/// Examines a host.
struct DoctorCommand: Command {
    static let description = CommandDescription(
        name: "doctor",
        summary: "Examine a host and the way to it: name what is wrong and what to do.",
        operands: [.init(name: "HOST", help: "the host's name")],
        discussion: """
            The coordinator examines it, for it alone has the key; this takes up to a minute and disturbs no run.
            The exit status is 0 when all is well, 1 when there is a problem, 2 when something could not be looked at.
            """
    )

    private let host: String

    init(_ arguments: ParsedArguments) throws { host = arguments.operands[0] }

    func run(_ context: CommandContext) async throws -> ExitCode {
        let answer = try await context.client.post(
            APIClient.path("hosts", host, "doctor"),
            [String: String](),
            as: DoctorReport.self
        )
        context.show(answer, Self.text)
        return switch answer.value.state {
        case .ok: .success
        case .problem: .blocked
        case .unknown: .incomplete
        }
    }

    /// A line for each check, with what to do below it.
    static func text(_ report: DoctorReport) -> String {
        let width = report.checks.map(\.name.count).max() ?? 0
        var text = ""
        for check in report.checks {
            let name = check.name + String(repeating: " ", count: width - check.name.count)
            let state = check.state.rawValue + String(repeating: " ", count: 7 - check.state.rawValue.count)
            text += PlainText.safe("\(state)  \(name)  \(check.measured)") + "\n"
            if let advice = check.advice { text += PlainText.safe("         → \(advice)") + "\n" }
        }
        let problems = report.checks.filter { $0.state == .problem }.map(\.name)
        let unknown = report.checks.count { $0.state == .unknown }
        if problems.isEmpty {
            text +=
                unknown == 0
                ? "\nAll is well with \(report.host).\n" : "\nNo problem found; \(unknown) not looked at.\n"
        } else {
            text += "\nProblems of \(report.host): \(problems.joined(separator: ", "))\n"
        }
        return text
    }
}
