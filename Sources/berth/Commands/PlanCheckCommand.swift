import BerthCore

/// Checks a plan file without submitting it.
struct PlanCheckCommand: LocalCommand {
    static let description = CommandDescription(
        name: "plan check",
        summary: "Check a plan file, and show what it would queue now.",
        operands: [.init(name: "FILE", help: "the plan, in YAML")],
        options: [
            .init(name: "--offline", kind: .flag, help: "check the file alone, without a coordinator")
        ],
        discussion: """
            Without --offline the coordinator also looks up builds, cases and system versions. Every problem is a line
            FILE:LINE:COLUMN: MESSAGE on standard error.
            """
    )

    private let file: PlanFile
    private let isOffline: Bool

    init(_ arguments: ParsedArguments) throws {
        file = try PlanFile(path: arguments.operands[0])
        isOffline = arguments.has("--offline")
    }

    func runAlone(_ console: Console, json: Bool) throws -> ExitCode? {
        guard isOffline else { return nil }
        let plan = file.document.plan
        if json {
            console.write("\(String(decoding: try CanonicalJSON.encode(plan), as: UTF8.self))\n")
        } else {
            console.write(
                "\(file.path) is a plan: \(plan.paths.count) paths in \(plan.cases.count) cases. "
                    + "Names were not looked up.\n"
            )
        }
        return .success
    }

    func run(_ context: CommandContext) async throws -> ExitCode {
        let answer = try await context.client.post(
            APIClient.path("plans", "check"),
            file.document.plan,
            as: PlanCheck.self
        )
        guard answer.value.problems.isEmpty else { throw file.failure(answer.value.problems) }
        for warning in answer.value.warnings { context.console.writeError("berth: warning: \(warning)\n") }
        context.show(answer, Self.text)
        return .success
    }

    private static func text(_ check: PlanCheck) -> String {
        var table = Table("BUILDS", "CASE", "PLATFORM", "OS", "RUNS")
        for pins in check.pins {
            table.add(
                PlainText.path(pins.path.map(\.short)),
                pins.caseName,
                pins.platform.rawValue,
                pins.os.description,
                "\(check.repeats)"
            )
        }
        return table.text(ifEmpty: "The plan queues nothing.")
    }
}
