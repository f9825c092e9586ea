import BerthCore
import BerthStore

/// What is going on now, for who watches the farm.
extension API {
    /// The most runs that one answer lists, unless a batch is named.
    private static let runLimit = 200
    /// How many paths of builds are judged.
    private static let pathLimit = 8

    /// The runs of a batch, or those that wait, hold a slot, or have a verdict.
    func runs(_ query: [String: String]) async throws -> [RunView] {
        if let batch = query["batch"] { return try await store.runs(batch: batch) }
        let limit = min(try limit(query["last"], "last") ?? 50, Self.runLimit)
        switch query["state"] {
        case "queued": return try await store.queuedRuns(limit: limit)
        case "open": return try await store.openRuns()
        case "finished":
            // Who watches needs the checks, not the whole reports.
            return try await store.finishedRuns(limit: limit).map { run in
                run.with(attempts: run.attempts.map { $0.with(progress: nil, report: nil) })
            }
        case .some(let other):
            throw APIError(
                400,
                "malformed-parameter",
                "there is no state \(other.prefix(80).debugDescription) to ask for; there are queued, open and finished"
            )
        case nil:
            throw APIError(
                400,
                "missing-parameter",
                "name the batch (/v1/runs?batch=ID) or the state (/v1/runs?state=queued, open or finished)"
            )
        }
    }

    /// The latest paths, judged by the coordinator's policies.
    func verdicts() async throws -> [PathVerdicts] {
        let paths = try await store.latestPaths(limit: Self.pathLimit)
        guard !paths.isEmpty else { return [] }
        // Both ledgers are read once for all paths and policies, so that all verdicts speak of the same heads.
        var ledgers: [(entries: [LedgerEntry], head: LedgerHead)] = []
        for kind in DeviceKind.allCases { ledgers.append(try await store.ledger(kind)) }
        return paths.map { path, names in
            let concerned = ledgers.flatMap { $0.entries.filter { $0.pins.path == path } }
            let reports = policies.map { policy in
                let heads = ledgers.map(\.head).filter { head in
                    policy.requirements.contains { $0.platform.kind == head.ledger }
                }
                return GateEvaluation.evaluate(policy, path: path, buildNames: names, entries: concerned, heads: heads)
            }
            return PathVerdicts(path: path, buildNames: names, reports: reports)
        }
    }

    /// A positive number in a query, if it is there.
    func limit(_ text: String?, _ name: String) throws -> Int? {
        guard let text else { return nil }
        guard let number = Int(text), number > 0 else {
            throw APIError(
                400,
                "malformed-parameter",
                "\(name) needs a whole number from 1, not \(text.prefix(80).debugDescription)"
            )
        }
        return number
    }
}
