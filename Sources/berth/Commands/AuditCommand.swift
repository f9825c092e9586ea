import BerthCore
import BerthSystem

/// Lists what was done to the farm.
struct AuditCommand: Command {
    static let description = CommandDescription(
        name: "audit",
        summary: "List what operators did to the farm: who, when, what.",
        options: [
            .init(
                name: "--since",
                kind: .value("TIME"),
                help: "\(Instant.accepted); the last 100 entries if not given"
            )
        ]
    )

    private let since: Int64?

    init(_ arguments: ParsedArguments) throws {
        since = try arguments.value("--since").map { text in
            guard let since = Instant.milliseconds(text, now: Timestamp.now().milliseconds) else {
                throw arguments.failure("--since must be \(Instant.accepted), not \(text.debugDescription)")
            }
            return max(since, 0)
        }
    }

    func run(_ context: CommandContext) async throws -> ExitCode {
        var entries: [AuditEntry] = []
        var query = since.map { ["since": "\($0)"] } ?? [:]
        while true {
            let page = try await context.client.get(APIClient.path("audit"), query: query, as: [AuditEntry].self).value
            entries += page
            guard since != nil, page.count >= AuditEntry.pageLimit, let last = page.last else { break }
            query["after"] = "\(last.number)"
        }
        if context.json {
            let bytes = try CanonicalJSON.encode(entries)
            context.console.write(String(decoding: bytes, as: UTF8.self) + "\n")
        } else {
            context.console.write(Self.text(entries))
        }
        return .success
    }

    /// A table, oldest entry first.
    static func text(_ entries: [AuditEntry]) -> String {
        var table = Table("TIME", "WHO", "ACTION", "WHAT", "DETAILS")
        for entry in entries {
            let details = entry.details.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
            table.add(
                PlainText.time(entry.at),
                entry.actor,
                entry.action,
                entry.subject,
                details.joined(separator: "  ")
            )
        }
        return table.text(ifEmpty: "Nothing was done in that time.")
    }
}
