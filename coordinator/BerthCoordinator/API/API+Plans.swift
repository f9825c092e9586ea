import BerthCore
import BerthStore
import BerthSystem

extension API {
    /// Queues a plan; one that has problems queues nothing and names them all.
    func submit(_ plan: Plan, key: String?, content: Digest, caller: String) async throws -> HTTPResponse {
        let resolver = try await resolve(plan)
        guard resolver.problems.isEmpty else {
            let problems = resolver.problems.map(\.problem)
            throw APIError(
                422,
                "plan-refused",
                problems.map { $0.place.isEmpty ? $0.message : "\($0.place): \($0.message)" }.joined(separator: "\n"),
                problems: problems
            )
        }
        return try await submit(plan, resolver, key: key, content: content, caller: caller)
    }

    /// Queues one path and its like; the first problem is the answer.
    func submit(_ request: BatchRequest, key: String?, content: Digest, caller: String) async throws -> HTTPResponse {
        let resolver = try await resolve(request.plan)
        if let first = resolver.problems.first {
            throw APIError(first.status, first.problem.code, first.problem.message)
        }
        return try await submit(request.plan, resolver, key: key, content: content, caller: caller)
    }

    /// What a plan would queue now.
    func check(_ plan: Plan) async throws -> HTTPResponse {
        let resolver = try await resolve(plan)
        let problems = resolver.problems.map(\.problem)
        return Self.json(
            PlanCheck(
                pins: problems.isEmpty ? resolver.runs.map(\.pins) : [],
                repeats: plan.repeats,
                warnings: resolver.warnings,
                problems: problems
            )
        )
    }

    private func resolve(_ plan: Plan) async throws -> PlanResolver {
        var resolver = PlanResolver(store: store, archive: archive)
        try await resolver.resolve(plan)
        return resolver
    }

    private func submit(
        _ plan: Plan,
        _ resolver: PlanResolver,
        key: String?,
        content: Digest,
        caller: String
    ) async throws -> HTTPResponse {
        let now = Timestamp.now().milliseconds
        let op = SubmitOp(
            submitter: caller,
            idempotencyKey: key,
            content: content,
            name: plan.name,
            runs: resolver.runs,
            priority: plan.priority,
            deadline: plan.deadline.flatMap(Deadline.init)?.milliseconds(now: now),
            now: now
        )
        let (batch, isNew) = try await store.submit(op)
        if isNew { farm.changes.publish(.init(.batch, batch.id)) }
        farm.wake()
        let warnings = resolver.warnings.isEmpty ? nil : resolver.warnings
        return Self.json(batch.with(warnings: warnings), status: isNew ? 201 : 200)
    }
}
