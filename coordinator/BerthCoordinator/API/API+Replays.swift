import BerthCore
import BerthStore
import BerthSystem

extension API {
    /// Queues recorded runs again with the very same pins, or refuses with everything that is missing. Nothing is ever
    /// put in the place of what is missing.
    func replay(_ request: ReplayRequest, key: String?, content: Digest, caller: String) async throws -> HTTPResponse {
        try check(request)
        let runs = try await store.recordedRuns(request)
        guard !runs.isEmpty else {
            let what = request.run.map { "run \($0)" } ?? request.batch.map { "batch \($0)" } ?? "this time"
            throw APIError(
                409,
                "nothing-recorded",
                "no ledger has an entry of \(what): only what was recorded is replayed"
            )
        }
        let problems = try await missing(for: runs)
        guard problems.isEmpty else {
            throw APIError(
                409,
                "replay-refused",
                "nothing was queued, since the same pins cannot be had:\n"
                    + problems.map { "\($0.place): \($0.message)" }.joined(separator: "\n"),
                problems: problems
            )
        }
        let now = Timestamp.now().milliseconds
        let (batch, isNew) = try await store.submit(
            SubmitOp(
                submitter: caller,
                idempotencyKey: key,
                content: content,
                runs: runs.map { SubmittedRun(pins: $0.pins, replays: $0.run) },
                priority: request.priority ?? 0,
                replay: request,
                deadline: request.deadline.flatMap(Deadline.init)?.milliseconds(now: now),
                now: now
            )
        )
        if isNew { farm.changes.publish(.init(.batch, batch.id)) }
        farm.wake()
        return Self.json(batch, status: isNew ? 201 : 200)
    }

    private func check(_ request: ReplayRequest) throws {
        let ways = [request.run != nil, request.batch != nil, request.since != nil].filter { $0 }.count
        guard ways == 1, request.since != nil || (request.until == nil && request.ledger == nil) else {
            throw APIError(
                400,
                "malformed-replay",
                "name one of run, batch and since; until and ledger belong to since"
            )
        }
        if let priority = request.priority, !Plan.priorityRange.contains(priority) {
            throw APIError(400, "malformed-priority", "the priority must lie between -1000000 and 1000000")
        }
        if let deadline = request.deadline, Deadline(deadline) == nil {
            throw APIError(
                400,
                "malformed-deadline",
                "the deadline must be \(Deadline.accepted), not \(deadline.prefix(80).debugDescription)"
            )
        }
    }

    /// What the pins need and the archive or the slots do not have, every byte of it checked.
    private func missing(for runs: [RecordedRun]) async throws -> [PlanProblem] {
        var problems: [PlanProblem] = []
        for build in Self.inOrder(runs.flatMap(\.pins.path)) {
            let name = try await buildName(build)
            for fault in await archive.faults(of: build) {
                problems.append(PlanProblem(place: "build \(name)", code: "archive-damaged", message: fault))
            }
        }
        for (name, digest) in Self.cases(runs) {
            guard let fault = try await store.caseFault(digest) else { continue }
            problems.append(PlanProblem(place: "case \(name)", code: "archive-damaged", message: fault))
        }
        for platform in Platform.allCases {
            let wanted = Self.inOrder(runs.filter { $0.pins.platform == platform }.map(\.pins.os))
            guard !wanted.isEmpty else { continue }
            let offer = OSOffer(platform: platform, offered: try await store.osVersions(platform: platform))
            for os in wanted where !offer.offered.contains(os) {
                problems.append(
                    PlanProblem(place: "os \(os.version)", code: "unknown-os", message: offer.refusal(of: os))
                )
            }
        }
        return problems
    }

    private func buildName(_ build: Digest) async throws -> String {
        let name = try await store.builds().first { $0.id == build }?.description.name
        return "\(name ?? "of unknown name") (\(build.short))"
    }

    private static func cases(_ runs: [RecordedRun]) -> [(name: String, digest: Digest)] {
        inOrder(runs.map(\.pins.caseDigest)).map { digest in
            (runs.first { $0.pins.caseDigest == digest }?.pins.caseName ?? "", digest)
        }
    }

    private static func inOrder<Element: Hashable>(_ elements: [Element]) -> [Element] {
        var seen: Set<Element> = []
        return elements.filter { seen.insert($0).inserted }
    }
}
