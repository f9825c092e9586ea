import BerthCore

/// A batch that was just queued, and how its submitter wants to see it.
struct BatchAnswer: Sendable {
    let answer: APIAnswer<BatchView>
    let watches: Bool
    let isPlain: Bool

    func show(_ context: CommandContext) async throws -> ExitCode {
        for warning in answer.value.warnings ?? [] { context.console.writeError("berth: warning: \(warning)\n") }
        if watches {
            let watch = BatchWatch(context: context, batches: [answer.value.id], isPlain: isPlain)
            return try await watch.run()
        }
        context.show(answer) { batch in
            let news = answer.status == 201 ? "queued" : "was submitted before"
            return "batch \(batch.id) \(news): \(batch.runs.count) runs\nFollow it with `berth watch \(batch.id)`.\n"
        }
        return .success
    }
}
