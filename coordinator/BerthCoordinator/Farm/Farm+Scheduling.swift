import BerthArchive
import BerthCore
import BerthStore
import BerthSystem

/// Bringing work to idle slots, and what has to be looked after at intervals.
extension Farm {
    /// Looks for work for idle slots, soon and once for any number of calls.
    package nonisolated func wake() {
        wakeUps.yield()
    }

    /// Offers what waits to idle slots whenever somebody says that there may be something.
    func offerWork() async {
        for await _ in wakes {
            do {
                try await offerOnce()
            } catch {
                // The look at intervals comes again.
                log.error("Cannot look for work", ["problem": "\(error)"])
            }
        }
    }

    private func offerOnce() async throws {
        guard slots.values.contains(where: isFree) else { return }
        var (waiting, names) = try await store.slotsWithWork()
        for name in names.shuffled() where waiting > 0 {
            guard let slot = slots[name], isFree(slot) else { continue }
            addWork.yield(.dispatch(slot: name))
            waiting -= 1
        }
    }

    /// Ends what is past its deadline, and gives quarantined slots a chance to prove themselves.
    func keepSchedule() async {
        var lastCheck = ContinuousClock.now
        while !Task.isCancelled {
            try? await Task.sleep(for: .seconds(1))
            wake()
            do {
                let (open, batches) = try await store.expire(now: Timestamp.now().milliseconds)
                await cancel(open, reason: "the deadline of its batch has passed")
                for batch in batches { changes.publish(.init(.batch, batch)) }
                guard lastCheck + healthCheckInterval < .now else { continue }
                lastCheck = .now
                await endStreamsOfRevokedTokens()
                try await checkHealth()
            } catch {
                log.error("Cannot look after deadlines and quarantined slots", ["problem": "\(error)"])
            }
        }
    }

    private var healthCheckInterval: Duration { .seconds(10) }

    private func checkHealth() async throws {
        let now = Timestamp.now().milliseconds
        for check in try await store.dueHealthChecks(now: now) {
            let op = SubmitOp(
                submitter: Eligibility.healthCheckSubmitter,
                idempotencyKey: check.key,
                content: Digest.sha256(of: Array(check.key.utf8)),
                name: "health check of \(check.slot)",
                runs: [SubmittedRun(pins: check.pins, labels: ["slot": check.slot])],
                priority: 0,
                // One that cannot be taken makes room for the next one.
                deadline: now + Store.healthCheckPause,
                now: now
            )
            let (batch, isNew) = try await store.submit(op)
            guard isNew else { continue }
            log.notice("Health check", ["slot": check.slot, "batch": batch.id])
            changes.publish(.init(.batch, batch.id))
        }
        wake()
    }

    // MARK: - Why

    /// Why a run is where it is, slot by slot.
    /// - Throws: `StoreError`
    package func why(run id: String) async throws -> RunWhyView {
        let survey = try await store.survey(run: id, now: Timestamp.now().milliseconds)
        let others = try await othersHoldings()
        guard survey.run.state == .queued else {
            let attempt = survey.run.attempts.last
            let summary =
                switch survey.run.state {
                case .assigned: "\(id) is on its way to slot \(attempt?.slot ?? "")"
                case .running: "\(id) is being executed on slot \(attempt?.slot ?? "")"
                default: "\(id) has ended: \(survey.run.verdict?.rawValue ?? survey.run.state.rawValue)"
                }
            return RunWhyView(run: id, state: survey.run.state, summary: summary, ahead: nil, slots: [])
        }
        let reasons = survey.slots.map { slot in
            let obstacles = Eligibility.obstacles(survey.standing, withAgent(slot, others))
            return SlotReasons(
                slot: slot.name,
                host: slot.host,
                isMatch: !obstacles.contains(where: \.isLasting),
                reasons: obstacles.map(\.description)
            )
        }
        let matching = reasons.filter(\.isMatch)
        let free = matching.filter(\.reasons.isEmpty)
        let summary =
            if survey.slots.isEmpty {
                "\(id) waits: no agent has reported a slot yet"
            } else if matching.isEmpty {
                "\(id) waits for a slot that no host has: \(survey.standing.requirement)"
            } else if free.isEmpty {
                "\(id) waits: each of the \(matching.count) slots that could take it is kept from it"
            } else {
                "\(id) waits for its turn on \(free.count) free slots"
            }
        return RunWhyView(run: id, state: .queued, summary: summary, ahead: survey.ahead, slots: reasons)
    }

    /// Why a slot does what it does.
    /// - Throws: `StoreError`
    package func why(slot name: String) async throws -> SlotWhyView {
        let survey = try await store.survey(slot: name, now: Timestamp.now().milliseconds)
        let others = try await othersHoldings()
        let slot = withAgent(survey.slot, others)
        // A run that every slot of its kind could take has only the slot's own obstacles.
        let own = Eligibility.obstacles(
            RunStanding(
                requirement: Requirement(platform: slot.offer.platform, os: slot.offer.os, features: [], labels: [:]),
                submitter: "",
                batch: "",
                limits: []
            ),
            slot
        )
        var waiting: [[String]: Int] = [:]
        for lane in survey.lanes {
            waiting[Eligibility.obstacles(lane.standing, slot).map(\.description), default: 0] += lane.waiting
        }
        let summary =
            if let attempt = slot.openAttempt {
                "slot \(name) is busy with attempt \(attempt)"
            } else if !own.isEmpty {
                "slot \(name) takes no run"
            } else if waiting[[]] == nil {
                "slot \(name) idles: of what waits nothing is for it"
            } else {
                "slot \(name) is about to take a run"
            }
        return SlotWhyView(
            slot: name,
            summary: summary + (others[slot.host].map { "; its host \(slot.host) is held by \($0)" } ?? ""),
            reasons: own.map(\.description),
            waiting: waiting.map { WaitingReason(count: $1, reasons: $0) }.sorted { $0.count > $1.count }
        )
    }

    /// What only the connection to its agent can tell of a slot; of another coordinator's, what that one has left in the
    /// store.
    private func withAgent(_ slot: SlotStanding, _ others: [String: OtherHolding]) -> SlotStanding {
        var known = slot
        if let other = others[slot.host] {
            known.agentProblem = other.problem(of: slot.name)
            return known
        }
        let session = slots[slot.name]
        if links[slot.host] == nil {
            known.agentProblem = "no coordinator holds its host \(slot.host)"
        } else if session?.link == nil {
            known.agentProblem = "its agent is not connected" + (session?.problem.map { ": \($0)" } ?? "")
        } else if let refusal = session?.keeping?.refusal {
            known.agentProblem = refusal.description
        } else if let problem = session?.problem {
            known.agentProblem = "what its agent said is not written down: \(problem)"
        } else if session?.isRecorded == false {
            known.agentProblem = "its agent has just come"
        } else if let until = session?.pausedUntil, until > .now {
            known.agentProblem = "its agent has just declined an attempt"
        }
        return known
    }
}
