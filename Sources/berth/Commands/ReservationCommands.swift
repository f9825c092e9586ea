import BerthCore

/// Holds a slot ahead of time.
struct ReserveCommand: Command {
    static let description = CommandDescription(
        name: "reserve",
        summary: "Hold a slot for one batch, or for runs with one label, for a time.",
        operands: [.init(name: "SLOT", help: "the slot's name")],
        options: [
            .init(name: "--batch", kind: .value("BATCH"), help: "the batch that may use it, such as b-3"),
            .init(name: "--label", kind: .value("KEY:VALUE"), help: "or the label that its runs must ask for"),
            .init(name: "--for", kind: .value("TIME"), help: "how long: \(Deadline.accepted)", isRequired: true),
            .reason,
        ],
        discussion: """
            What runs there goes on to its end. Several reservations of one slot let all their holders use it.
            `berth reservation end` ends one early.
            """
    )

    private let request: ReservationRequest

    init(_ arguments: ParsedArguments) throws {
        let (batch, label) = (arguments.value("--batch"), arguments.value("--label"))
        guard (batch == nil) != (label == nil) else {
            throw arguments.failure("give one of --batch BATCH and --label KEY:VALUE")
        }
        if let label { _ = try arguments.label(label, "--label") }
        request = ReservationRequest(
            slot: arguments.operands[0],
            batch: batch,
            label: label,
            until: try arguments.deadline("--for") ?? "",
            reason: try arguments.reason()
        )
    }

    func run(_ context: CommandContext) async throws -> ExitCode {
        let answer = try await context.client.post(APIClient.path("reservations"), request, as: Reservation.self)
        context.show(answer) { PlainText.safe("\($0.slot) is \(SlotReasonText.text($0))") + "\n" }
        return .success
    }
}

/// Lists the reservations in force.
struct ReservationListCommand: Command {
    static let description = CommandDescription(
        name: "reservation list",
        summary: "List the reservations that are in force."
    )

    init(_ arguments: ParsedArguments) throws {}

    func run(_ context: CommandContext) async throws -> ExitCode {
        let answer = try await context.client.get(APIClient.path("reservations"), as: [Reservation].self)
        context.show(answer) { reservations in
            var table = Table("ID", "SLOT", "FOR", "UNTIL", "BY", "REASON")
            for one in reservations {
                table.add(
                    one.id,
                    one.slot,
                    one.batch ?? one.label ?? "",
                    PlainText.time(one.until),
                    one.actor,
                    one.reason
                )
            }
            return table.text(ifEmpty: "No slot is reserved.")
        }
        return .success
    }
}

/// Ends a reservation before its time.
struct ReservationEndCommand: Command {
    static let description = CommandDescription(
        name: "reservation end",
        summary: "End a reservation before its time.",
        operands: [.init(name: "ID", help: "the reservation's ID, such as v-3")]
    )

    private let id: String

    init(_ arguments: ParsedArguments) throws {
        id = arguments.operands[0]
    }

    func run(_ context: CommandContext) async throws -> ExitCode {
        let path = APIClient.path("reservations", id, "end")
        let answer = try await context.client.post(path, [String: String](), as: Reservation.self)
        context.show(answer) { PlainText.safe("\($0.slot) is no longer reserved for \($0.holder)") + "\n" }
        return .success
    }
}
