import BerthCore
import BerthHosts
import BerthStore
import BerthSystem

extension API {
    func submit(_ request: BatchRequest, key: String?, content: Digest, caller: String) async throws -> HTTPResponse {
        guard !request.new.isEmpty, !request.cases.isEmpty else {
            throw APIError(400, "empty-batch", "a batch needs at least one new build and one case")
        }
        guard (1...1000).contains(request.repeats) else {
            throw APIError(400, "malformed-repeats", "repeats must lie between 1 and 1000, not \(request.repeats)")
        }
        let old = try await store.build(matching: request.old)
        var paths: [[Digest]] = []
        for reference in request.new {
            let new = try await store.build(matching: reference)
            try check(old, new, request.platform)
            paths.append([old.id, new.id])
        }
        var cases: [(name: String, digest: Digest)] = []
        for name in request.cases {
            let (definition, digest) = try await store.latestCase(named: name)
            cases.append((definition.name, digest))
        }
        let os = try await pin(request.os, on: request.platform)
        let (batch, isNew) = try await store.submit(
            SubmitOp(
                submitter: caller,
                idempotencyKey: key,
                content: content,
                paths: paths,
                cases: cases,
                os: os,
                platform: request.platform,
                repeats: request.repeats,
                priority: request.priority,
                now: Timestamp.now().milliseconds
            )
        )
        if isNew { farm.changes.publish(.init(.batch, batch.id)) }
        await farm.wake()
        return Self.json(batch, status: isNew ? 201 : 200)
    }

    func gate(_ request: GateRequest) async throws -> HTTPResponse {
        let policy = request.policy ?? .standard
        let old = try await store.build(matching: request.old)
        let new = try await store.build(matching: request.new)
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
                path: [old.id, new.id],
                buildNames: [old.description.name, new.description.name],
                entries: entries,
                heads: heads
            )
        )
    }

    /// Adds to open attempts which step they are at.
    func withProgress(_ batch: BatchView) async -> BatchView {
        BatchView(
            id: batch.id,
            submitter: batch.submitter,
            submittedAt: batch.submittedAt,
            runs: await withProgress(batch.runs)
        )
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

    private func check(_ old: BuildRecord, _ new: BuildRecord, _ platform: Platform) throws {
        guard old.description.bundleIdentifier == new.description.bundleIdentifier else {
            throw APIError(
                422,
                "bundle-ids-differ",
                "\(old.description.name) has the bundle ID \(old.description.bundleIdentifier), \(new.description.name) has "
                    + "\(new.description.bundleIdentifier): the new build would be installed beside the old one, not over it"
            )
        }
        for build in [old, new] where !build.description.platform.canRun(on: platform) {
            throw APIError(
                422,
                "wrong-platform",
                "build \(build.description.name) is made for \(build.description.platform.rawValue) and cannot run on \(platform.rawValue)"
            )
        }
        guard old.id != new.id else {
            throw APIError(422, "same-build", "old and new build are the same: \(old.id)")
        }
    }

    private func pin(_ wanted: String, on platform: Platform) async throws -> OSPin {
        let offered = try await store.osVersions(platform: platform)
        guard let newest = offered.first else {
            throw APIError(
                409,
                "no-slot",
                "no slot of platform \(platform.rawValue) has ever joined, so no OS version can be pinned; add a host first"
            )
        }
        if wanted == "latest" { return newest }
        guard let exact = offered.first(where: { $0.version == wanted || $0.build == wanted }) else {
            throw APIError(
                422,
                "unknown-os",
                "no slot of platform \(platform.rawValue) offers \(wanted); there are \(offered.map(\.description).joined(separator: ", "))"
            )
        }
        return exact
    }
}

extension Platform {
    /// Whether a build made for this platform runs on a slot of another one.
    fileprivate func canRun(on slot: Platform) -> Bool {
        self == slot || slot == .standIn
    }
}
