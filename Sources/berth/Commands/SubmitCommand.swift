import BerthCore

/// Submits a batch.
struct SubmitCommand: Command {
    static let description = CommandDescription(
        name: "submit",
        summary: "Queue migration runs: each new build over the old one, in each case, or what a plan file says.",
        options: [
            .init(
                name: "--plan",
                kind: .value("FILE"),
                help: "a plan file; it says all that the next nine options say"
            ),
            .init(name: "--old", kind: .value("REF"), help: "the old build: ID, digits of it, or name"),
            .init(name: "--new", kind: .values("REF"), help: "the new builds"),
            .init(name: "--case", kind: .values("NAME"), help: "the cases, such as update or restart"),
            .init(
                name: "--platform",
                kind: .value("PLATFORM"),
                help: "one of \(Platform.allCases.map(\.rawValue).joined(separator: ", ")); linux-simulated by default"
            ),
            .init(
                name: "--os",
                kind: .value("VERSION"),
                help: "an exact system version, a range such as '>=18.0 <19', or latest: the newest that a slot offers"
            ),
            .init(name: "--repeats", kind: .value("N"), help: "runs of each combination, 1 if not given"),
            .init(name: "--priority", kind: .value("N"), help: "higher goes first, 0 if not given"),
            .init(
                name: "--transitional",
                kind: .value("REF"),
                help: "the build that is installed between old and new"
            ),
        ] + CommandDescription.Option.ofSubmissions
    )

    private enum Request {
        case options(BatchRequest)
        case plan(PlanFile)
    }

    private static let planned = [
        "--old", "--new", "--case", "--platform", "--os", "--repeats", "--priority", "--transitional", "--deadline",
    ]

    private let request: Request
    private let key: String?
    private let watches: Bool
    private let isPlain: Bool

    init(_ arguments: ParsedArguments) throws {
        if let file = arguments.value("--plan") {
            if let option = Self.planned.first(where: arguments.has) {
                throw arguments.failure("\(option) is what the plan file says: give one or the other")
            }
            request = .plan(try PlanFile(path: file))
        } else {
            request = .options(try Self.batch(arguments))
        }
        key = try arguments.idempotencyKey()
        watches = arguments.has("--watch")
        isPlain = arguments.has("--plain")
        if isPlain, !watches { throw arguments.failure("--plain says how to --watch: give both or neither") }
    }

    private static func batch(_ arguments: ParsedArguments) throws -> BatchRequest {
        for option in description.options where planned.prefix(3).contains(option.name) && !arguments.has(option.name) {
            throw arguments.failure("\(option.usage) is missing: \(option.help); or give all in a file with --plan")
        }
        return BatchRequest(
            old: arguments.value("--old") ?? "",
            transitional: arguments.value("--transitional"),
            new: arguments.values("--new"),
            cases: arguments.values("--case"),
            platform: try arguments.word("--platform", default: .linuxSimulated),
            os: arguments.value("--os") ?? "latest",
            repeats: try arguments.integer("--repeats", default: 1, in: Plan.repeatsRange),
            priority: try arguments.integer("--priority", default: 0, in: Plan.priorityRange),
            deadline: try arguments.deadline("--deadline")
        )
    }

    func run(_ context: CommandContext) async throws -> ExitCode {
        let headers = key.map { ["Idempotency-Key": $0] } ?? [:]
        let answer: APIAnswer<BatchView>
        switch request {
        case .options(let batch):
            answer = try await context.client.post(
                APIClient.path("batches"),
                batch,
                headers: headers,
                as: BatchView.self
            )
        case .plan(let file):
            answer = try await file.locating {
                try await context.client.post(
                    APIClient.path("plans"),
                    file.document.plan,
                    headers: headers,
                    as: BatchView.self
                )
            }
        }
        return try await BatchAnswer(answer: answer, watches: watches, isPlain: isPlain).show(context)
    }
}
