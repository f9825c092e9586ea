import BerthCore
import BerthSystem

/// Runs recorded pins again.
struct ReplayCommand: Command {
    static let description = CommandDescription(
        name: "replay",
        summary: "Queue recorded runs again with the very same builds, case, system and platform.",
        operands: [.init(name: "RUN", help: "the run's ID, such as r-12", count: .atMostOne)],
        options: [
            .init(name: "--batch", kind: .value("BATCH"), help: "all recorded runs of a batch"),
            .init(name: "--since", kind: .value("TIME"), help: "all runs recorded from a time on: \(Instant.accepted)"),
            .init(name: "--until", kind: .value("TIME"), help: "with --since: up to a time"),
            .init(
                name: "--ledger",
                kind: .value("LEDGER"),
                help: "with --since: only from one of \(DeviceKind.allCases.map(\.rawValue).joined(separator: ", "))"
            ),
            .init(name: "--priority", kind: .value("N"), help: "higher goes first, 0 if not given"),
        ] + CommandDescription.Option.ofSubmissions,
        discussion: """
            Pins come from the ledgers, builds and cases from the archive. When a byte of them is missing or damaged, or no
            slot offers the system's build, nothing is queued and all that is missing is named.
            """
    )

    private let request: ReplayRequest
    private let key: String?
    private let watches: Bool
    private let isPlain: Bool

    init(_ arguments: ParsedArguments) throws {
        let ways = [
            arguments.operands.first, arguments.value("--batch"), arguments.value("--since"),
        ].compactMap { $0 }
        guard ways.count == 1 else { throw arguments.failure("give one of RUN, --batch BATCH and --since TIME") }
        if arguments.value("--since") == nil, let option = ["--until", "--ledger"].first(where: arguments.has) {
            throw arguments.failure("\(option) belongs to --since")
        }
        let now = Timestamp.now().milliseconds
        func time(_ option: String) throws -> Int64? {
            try arguments.value(option).map { text in
                guard let time = Instant.milliseconds(text, now: now) else {
                    throw arguments.failure("\(option) must be \(Instant.accepted), not \(text.debugDescription)")
                }
                return time
            }
        }
        request = ReplayRequest(
            run: arguments.operands.first,
            batch: arguments.value("--batch"),
            since: try time("--since"),
            until: try time("--until"),
            ledger: arguments.has("--ledger")
                ? try arguments.word("--ledger", default: DeviceKind.simulator) : nil,
            priority: arguments.has("--priority")
                ? try arguments.integer("--priority", default: 0, in: Plan.priorityRange) : nil,
            deadline: try arguments.deadline("--deadline")
        )
        key = try arguments.idempotencyKey()
        watches = arguments.has("--watch")
        isPlain = arguments.has("--plain")
        if isPlain, !watches { throw arguments.failure("--plain says how to --watch: give both or neither") }
    }

    func run(_ context: CommandContext) async throws -> ExitCode {
        let answer = try await context.client.post(
            APIClient.path("replays"),
            request,
            headers: key.map { ["Idempotency-Key": $0] } ?? [:],
            as: BatchView.self
        )
        return try await BatchAnswer(answer: answer, watches: watches, isPlain: isPlain).show(context)
    }
}
