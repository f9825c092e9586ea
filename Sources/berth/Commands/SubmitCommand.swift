import BerthCore

/// Submits a batch.
struct SubmitCommand: Command {
    static let description = CommandDescription(
        name: "submit",
        summary: "Queue migration runs: each new build over the old one, in each case.",
        options: [
            .init(
                name: "--old",
                kind: .value("REF"),
                help: "the old build: ID, digits of it, or name",
                isRequired: true
            ),
            .init(name: "--new", kind: .values("REF"), help: "the new builds", isRequired: true),
            .init(
                name: "--case",
                kind: .values("NAME"),
                help: "the cases, such as update or restart",
                isRequired: true
            ),
            .init(
                name: "--platform",
                kind: .value("PLATFORM"),
                help: "one of \(Platform.allCases.map(\.rawValue).joined(separator: ", ")); linux-simulated by default"
            ),
            .init(
                name: "--os",
                kind: .value("VERSION"),
                help: "an exact system version, or latest: the newest that a slot offers now"
            ),
            .init(name: "--repeats", kind: .value("N"), help: "runs of each combination, 1 if not given"),
            .init(name: "--priority", kind: .value("N"), help: "higher goes first, 0 if not given"),
            .init(
                name: "--idempotency-key",
                kind: .value("KEY"),
                help: "submitting again under the same key gives the same batch"
            ),
            .init(name: "--watch", kind: .flag, help: "follow the batch until all its runs have finished"),
            .init(name: "--plain", kind: .flag, help: "with --watch: a line for each change, also on a terminal"),
        ]
    )

    private let request: BatchRequest
    private let key: String?
    private let watches: Bool
    private let isPlain: Bool

    init(_ arguments: ParsedArguments) throws {
        request = BatchRequest(
            old: arguments.value("--old") ?? "",
            new: arguments.values("--new"),
            cases: arguments.values("--case"),
            platform: try arguments.word("--platform", default: .linuxSimulated),
            os: arguments.value("--os") ?? "latest",
            repeats: try arguments.integer("--repeats", default: 1, in: 1...10_000),
            priority: try arguments.integer("--priority", default: 0, in: -1_000_000...1_000_000)
        )
        key = arguments.value("--idempotency-key")
        if let key, key.isEmpty || !key.utf8.allSatisfy({ (33...126).contains($0) }) || key.utf8.count > 200 {
            throw arguments.failure("--idempotency-key must be one word of at most 200 plain ASCII characters")
        }
        watches = arguments.has("--watch")
        isPlain = arguments.has("--plain")
        if isPlain, !watches { throw arguments.failure("--plain says how to --watch: give both or neither") }
    }

    func run(_ context: CommandContext) async throws -> ExitCode {
        let answer = try await context.client.post(
            APIClient.path("batches"),
            request,
            headers: key.map { ["Idempotency-Key": $0] } ?? [:],
            as: BatchView.self
        )
        if watches {
            let watch = BatchWatch(context: context, batch: answer.value.id, isPlain: isPlain)
            return try await watch.run()
        }
        context.show(answer) { batch in
            let news = answer.status == 201 ? "queued" : "was submitted before"
            return "batch \(batch.id) \(news): \(batch.runs.count) runs\nFollow it with `berth watch \(batch.id)`.\n"
        }
        return .success
    }
}
