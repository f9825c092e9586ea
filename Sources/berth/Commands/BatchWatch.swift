import BerthCore

/// Looks at batches again and again until their runs have finished, showing what changes: several are one table.
struct BatchWatch: Sendable {
    /// How many looks in a row may fail before the watch ends: a coordinator that restarts is waited for.
    static let patience = 60

    let context: CommandContext
    let batches: [String]
    let isPlain: Bool

    func run() async throws -> ExitCode {
        var table = LiveTable()
        var former: BatchView?
        var failures = 0
        while true {
            do {
                var answers: [APIAnswer<BatchView>] = []
                for batch in batches {
                    answers.append(try await context.client.get(APIClient.path("batches", batch), as: BatchView.self))
                }
                failures = 0
                let whole = Self.whole(answers.map(\.value))
                if !context.json { show(whole, after: former, in: &table) }
                former = whole
                if whole.isFinished {
                    conclude(answers, whole)
                    return .success
                }
            } catch let failure as CommandFailure
                where former != nil && [.unreachable, .refusedForNow].contains(failure.status)
                && failures < Self.patience
            {
                failures += 1
                if failures == 1 { context.console.writeError("berth: \(failure.message); trying again\n") }
            }
            try await Task.sleep(for: context.pollInterval)
        }
    }

    /// Several batches as one.
    private static func whole(_ batches: [BatchView]) -> BatchView {
        BatchView(
            id: batches.count > 3
                ? "\(batches[0].id) … \(batches[batches.count - 1].id)" : batches.map(\.id).joined(separator: ", "),
            submitter: batches.first?.submitter ?? "",
            submittedAt: batches.first?.submittedAt ?? 0,
            runs: batches.flatMap(\.runs)
        )
    }

    private func show(_ batch: BatchView, after former: BatchView?, in table: inout LiveTable) {
        if let terminal = isPlain ? nil : context.console.terminal() {
            guard batch != former else { return }
            context.console.write(table.show(BatchProgress.lines(batch), on: terminal))
        } else {
            for line in BatchProgress.changes(from: former, to: batch) { context.console.write("\(line)\n") }
        }
    }

    private func conclude(_ answers: [APIAnswer<BatchView>], _ whole: BatchView) {
        if context.json {
            for answer in answers { context.console.write("\(answer.json)\n") }
        } else if isPlain || context.console.terminal() == nil {
            context.console.write("\(BatchProgress.summary(whole))\n")
        }
    }
}
