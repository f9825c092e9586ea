import BerthCore

/// Looks at a batch again and again until its runs have finished, showing what changes.
struct BatchWatch: Sendable {
    /// How many looks in a row may fail before the watch ends: a coordinator that restarts is waited for.
    static let patience = 60

    let context: CommandContext
    let batch: String
    let isPlain: Bool

    func run() async throws -> ExitCode {
        var table = LiveTable()
        var former: BatchView?
        var failures = 0
        while true {
            do {
                let answer = try await context.client.get(APIClient.path("batches", batch), as: BatchView.self)
                failures = 0
                if !context.json { show(answer.value, after: former, in: &table) }
                former = answer.value
                if answer.value.isFinished {
                    conclude(answer)
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

    private func show(_ batch: BatchView, after former: BatchView?, in table: inout LiveTable) {
        if let terminal = isPlain ? nil : context.console.terminal() {
            guard batch != former else { return }
            context.console.write(table.show(BatchProgress.lines(batch), on: terminal))
        } else {
            for line in BatchProgress.changes(from: former, to: batch) { context.console.write("\(line)\n") }
        }
    }

    private func conclude(_ answer: APIAnswer<BatchView>) {
        if context.json {
            context.console.write("\(answer.json)\n")
        } else if isPlain || context.console.terminal() == nil {
            context.console.write("\(BatchProgress.summary(answer.value))\n")
        }
    }
}
