import BerthCore
import BerthStore

extension API {
    func gate(_ request: GateRequest) async throws -> HTTPResponse {
        let policy = request.policy ?? .standard
        var path: [BuildRecord] = []
        for reference in [request.old, request.transitional, request.new].compactMap(\.self) {
            path.append(try await store.build(matching: reference))
        }
        var entries: [LedgerEntry] = []
        var heads: [LedgerHead] = []
        for kind in DeviceKind.allCases where policy.requirements.contains(where: { $0.platform.kind == kind }) {
            let ledger = try await store.ledger(kind)
            entries += ledger.entries
            heads.append(ledger.head)
        }
        return Self.json(
            GateEvaluation.evaluate(
                policy,
                path: path.map(\.id),
                buildNames: path.map(\.description.name),
                entries: entries,
                heads: heads
            )
        )
    }

    /// Adds to open attempts which step they are at.
    func withProgress(_ batch: BatchView) async -> BatchView {
        batch.with(runs: await withProgress(batch.runs))
    }

    func withProgress(_ runs: [RunView]) async -> [RunView] {
        var result: [RunView] = []
        for run in runs {
            guard run.attempts.contains(where: { $0.state.isOpen }) else {
                result.append(run)
                continue
            }
            var attempts: [AttemptView] = []
            for attempt in run.attempts {
                let progress = attempt.state.isOpen ? await farm.progress(of: attempt.id) : nil
                attempts.append(attempt.with(progress: progress))
            }
            result.append(run.with(attempts: attempts))
        }
        return result
    }
}
