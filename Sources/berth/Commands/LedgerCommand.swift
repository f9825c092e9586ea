import BerthArchive
import BerthCore
import BerthSystem

/// Prints a ledger and follows its chain.
struct LedgerCommand: Command {
    static let description = CommandDescription(
        name: "ledger",
        summary: "Print the simulator or the hardware ledger.",
        operands: [.init(name: "LEDGER", help: "simulator or hardware")],
        options: [
            .init(
                name: "--verify",
                kind: .flag,
                help: "follow the chain from the first entry to the head; exit status 65 if it is broken"
            )
        ]
    )

    private let kind: DeviceKind
    private let verifies: Bool

    init(_ arguments: ParsedArguments) throws {
        kind = try ParsedArguments.word(arguments.operands[0], what: "LEDGER", command: arguments.command)
        verifies = arguments.has("--verify")
    }

    func run(_ context: CommandContext) async throws -> ExitCode {
        let answer = try await context.client.get(APIClient.path("ledgers", kind.rawValue), as: LedgerView.self)
        if verifies { try Self.verify(answer.value, kind) }
        context.show(answer) { view in
            Self.table(view).text(ifEmpty: "The \(kind.rawValue) ledger is empty.")
                + (verifies ? "Verified: " : "") + Self.head(view.head) + "\n"
        }
        return .success
    }

    /// A ledger's end in one line.
    static func head(_ head: LedgerHead) -> String {
        "\(head.ledger.rawValue) ledger, \(head.length) entries, head \(head.head)"
    }

    /// Follows the chain over the entries' canonical bytes, up to the head that the answer claims.
    static func verify(_ view: LedgerView, _ kind: DeviceKind) throws {
        let bytes = try view.entries.map { try CanonicalJSON.encode($0) }
        let head = try LedgerChain.verify(
            bytes,
            of: kind,
            digest: { Digest.sha256(of: $0) },
            isSigned: { signature, statement in
                guard let key = Hex.decode(signature.key), let bytes = Hex.decode(signature.signature) else {
                    return false
                }
                return SigningKey.isValid(bytes, of: statement, publicBytes: key)
            }
        )
        guard head == view.head else {
            throw CommandFailure(
                .badInput,
                "the ledger is broken: its entries end as \(self.head(head)), and its head says \(self.head(view.head))"
            )
        }
    }

    private static func table(_ view: LedgerView) -> Table {
        var table = Table("ENTRY", "RECORDED", "RUN", "ATTEMPT", "CASE", "PATH", "PLATFORM", "OS", "OUTCOME", "CAUSE")
        for entry in view.entries {
            table.add(
                "\(entry.sequence)",
                PlainText.time(entry.recordedAt),
                entry.run,
                entry.attempt,
                entry.pins.caseName,
                PlainText.path(entry.pins.path.map(\.short)),
                entry.pins.platform.rawValue,
                entry.pins.os.version,
                entry.outcome.rawValue,
                entry.cause?.code ?? ""
            )
        }
        return table
    }
}
