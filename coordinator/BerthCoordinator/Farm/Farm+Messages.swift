import BerthCore
import BerthStore
import BerthSystem

/// What hosts and agents say, and what the farm makes of it.
extension Farm {
    /// Takes what a slot's agent says. What keeps leases alive is dealt with at once, without the store.
    /// - Returns: what has to be written down, in the order in which it came.
    func receive(_ message: HostMessage, slot name: String, from link: HostLink) async throws -> SlotInbox.Item? {
        guard SlotName.isValid(name) else {
            throw HostLinkError.misrouted(host: link.host.name, route: name, problem: "this cannot be a slot's name")
        }
        // A host that was given up, and perhaps taken again, is not spoken for by its former channel.
        guard links[link.host.name] === link else { throw HostLinkError.notConnected(host: link.host.name) }
        switch message {
        case .agentHello(let hello): return try await meet(hello, slot: name, from: link)
        case .accepted(let reference): return .accepted(reference)
        case .declined(let declination): return .declined(declination)
        case .heartbeat(let heartbeat): return try await renew(heartbeat, slot: name, from: link)
        case .progress(let progress):
            if holds(name, AttemptReference(attempt: progress.attempt, epoch: progress.epoch), link) {
                setProgress("\(progress.title) (\(progress.step)/\(progress.steps))", of: progress.attempt)
            }
        case .result(let report):
            if holds(name, AttemptReference(attempt: report.attempt, epoch: report.epoch), link) {
                openLeases[report.attempt]?.resultWaits = true
                openLeases[report.attempt]?.deadline = .now + leases.grantAfter
            }
            return .result(report)
        case .released(let answer): hear(answer, slot: name, from: link)
        case .closing(let closing):
            slotLeft(name, host: link.host.name, reason: closing.reason, from: link)
        case .hostHello, .missing, .received, .stored, .refused, .facts, .slotLeft:
            throw HostLinkError.misrouted(host: link.host.name, route: name, problem: "only the host itself says this")
        }
        return nil
    }

    /// An agent that sends its attempt's evidence lives, however long that takes.
    func hearEvidence(slot name: String, from link: HostLink) {
        guard slots[name]?.link === link, let mine = openLeases.of(slot: name), mine.accepted,
            mine.host == link.host.name
        else { return }
        openLeases[mine.attempt]?.deadline = .now + leases.grantAfter
    }

    /// What a former channel of the host says is not taken.
    func slotLeft(_ name: String, host: String, reason: String, from link: HostLink? = nil) {
        guard let slot = slots[name], slot.host == host, let present = slot.link, link == nil || link === present
        else { return }
        log.notice("Slot left", ["slot": name, "host": host, "reason": reason])
        slots[name]?.link = nil
        slots[name]?.offlineSince = Timestamp.now().milliseconds
        releases.slotLeft(name)
        tellOthers()
        changes.publish(.init(.slot, name))
    }

    func hostConnected(_ host: String) {
        tellOthers()
        changes.publish(.init(.host, host))
    }

    func hostLeft(_ host: String, reason: String) {
        tellOthers()
        changes.publish(.init(.host, host))
        for slot in slots.values where slot.host == host { slotLeft(slot.name, host: host, reason: reason) }
    }

    /// From now on the agent's heartbeats are answered. Work it gets once the store has taken its hello down.
    private func meet(_ hello: AgentHello, slot name: String, from link: HostLink) async throws -> SlotInbox.Item? {
        guard hello.slot == name else {
            throw HostLinkError.misrouted(
                host: link.host.name,
                route: name,
                problem: "its agent calls itself \(hello.slot)"
            )
        }
        guard ProtocolVersions.own.common(with: hello.versions) != nil else {
            let error = HostLinkError.agentMismatch(slot: name, host: link.host.name, theirs: hello.versions)
            log.error("Slot refused", ["slot": name, "host": link.host.name, "problem": "\(error)"])
            try await link.send(.closing(Closing(reason: "\(error)")), route: name)
            return nil
        }
        let former = slots[name]
        // Whose slot it is when two hosts have one of this name, the store decides.
        if former == nil || former?.host == link.host.name {
            let isSameChannel = former?.link === link
            slots[name] = SlotSession(
                name: name,
                host: link.host.name,
                link: link,
                hello: hello,
                dispatching: former?.dispatching ?? false,
                declines: former?.declines ?? 0,
                pausedUntil: former?.pausedUntil,
                keeping: hello.keeping,
                problem: isSameChannel ? former?.problem : nil,
                asks: isSameChannel ? former?.asks ?? 0 : 0
            )
            changes.publish(.init(.slot, name))
        }
        return .hello(hello)
    }

    /// Takes a slot into service whose agent has said hello.
    func join(_ hello: AgentHello, _ inbox: SlotInbox) async throws {
        let (name, link) = (inbox.slot, inbox.link)
        try await store.recordSlot(hello, host: link.host.name, now: Timestamp.now().milliseconds)
        guard links[link.host.name] === link else { return }
        if let other = slots[name], other.host != link.host.name {
            // Another host had said this name first, and the store says whose it is. The agent says it again.
            slots[name] = nil
            return try await link.greet(name)
        }
        // It has left or said another hello meanwhile, which comes next.
        guard let session = slots[name], session.link === link, session.hello == hello else { return }
        slots[name]?.isRecorded = true
        changes.publish(.init(.slot, name))
        tellOthers()
        log.notice("Slot joined", ["slot": name, "host": link.host.name, "platform": hello.device.platform.rawValue])
        try await reconcile(hello, slot: name, link: link)
        wake()
    }

    /// Brings the store's view and the agent's together after a (re)connection, without granting anything twice.
    private func reconcile(_ hello: AgentHello, slot name: String, link: HostLink) async throws {
        if let running = hello.running, openLeases.of(slot: name)?.attempt != running.attempt {
            // The store is the truth: an attempt that is open there is adopted, however it escaped this coordinator.
            let open = try await store.openAttempts(host: link.host.name)
            if let known = open.first(where: { $0.slot == name && $0.attempt == running.attempt }) { adopt(known) }
        }
        let mine = openLeases.of(slot: name)
        if let running = hello.running, running.attempt != mine?.attempt || running.epoch != mine?.epoch {
            let cancellation = Cancellation(
                attempt: running.attempt,
                epoch: running.epoch,
                reason: "the coordinator has given this attempt up"
            )
            try await link.send(.cancel(cancellation), route: name)
        }
        guard let mine else { return }
        let reference = AttemptReference(attempt: mine.attempt, epoch: mine.epoch)
        openLeases[mine.attempt]?.deadline = .now + leases.grantAfter
        if hello.running == reference {
            try await accept(reference, slot: name, from: link)
            await tellCancellation(mine.attempt)
        } else if hello.unacknowledged.contains(reference) {
            return
        } else if mine.accepted {
            await abandon(
                mine.attempt,
                .init("agent-forgot", "the agent of \(name) no longer knows the attempt that it had accepted")
            )
        } else {
            // The assignment was never accepted, or the answer was lost: the same attempt is offered again.
            openLeases[mine.attempt]?.needsDelivery = true
            resumeDeliveries()
        }
    }

    /// Whether a slot of the link's host is held by just this attempt. What an agent says of another's, or a host of
    /// another host's, is not taken.
    func holds(_ slot: String, _ reference: AttemptReference, _ link: HostLink) -> Bool {
        openLeases[reference.attempt].map {
            $0.slot == slot && $0.epoch == reference.epoch && $0.host == link.host.name
        } ?? false
    }

    func accept(_ reference: AttemptReference, slot name: String, from link: HostLink) async throws {
        guard holds(name, reference, link),
            try await store.accept(
                attempt: reference.attempt,
                epoch: reference.epoch,
                now: Timestamp.now().milliseconds
            )
        else { return }
        openLeases[reference.attempt]?.accepted = true
        slots[name]?.declines = 0
        openLeases[reference.attempt]?.deadline = .now + leases.grantAfter
        if let lease = openLeases[reference.attempt] {
            changes.publish(.init(.run, lease.run), .init(.slot, lease.slot))
        }
    }

    func decline(_ declination: Declination, slot name: String, from link: HostLink) async throws {
        log.error(
            "Assignment declined",
            ["slot": name, "attempt": declination.attempt, "cause": declination.cause.description]
        )
        // What the host once had may have been cleared away: the next assignment looks again.
        if declination.cause.code == OutcomeCause.buildMissing { await link.forgetProvided() }
        let reference = AttemptReference(attempt: declination.attempt, epoch: declination.epoch)
        guard holds(name, reference, link) else { return }
        try await store.decline(
            attempt: declination.attempt,
            epoch: declination.epoch,
            cause: declination.cause,
            now: Timestamp.now().milliseconds
        )
        if let run = openLeases[declination.attempt]?.run { changes.publish(.init(.run, run)) }
        openLeases[declination.attempt] = nil
        changes.publish(.init(.slot, name))
        // Twice as long with each in a row, up to about a minute.
        let declines = min(slots[name]?.declines ?? 0, 6)
        slots[name]?.pausedUntil = .now + .seconds(1 << declines)
        slots[name]?.declines = declines + 1
    }

    private func renew(
        _ heartbeat: Heartbeat,
        slot name: String,
        from link: HostLink
    ) async throws -> SlotInbox.Item? {
        guard slots[name]?.link === link else { return nil }
        if let keeping = heartbeat.keeping { hear(keeping, slot: name) }
        if let mine = openLeases.of(slot: name), mine.host == link.host.name {
            let vouched = heartbeat.running == AttemptReference(attempt: mine.attempt, epoch: mine.epoch)
            if vouched || !mine.accepted || mine.resultWaits {
                openLeases[mine.attempt]?.deadline = .now + leases.grantAfter
            }
            if mine.cancellation != nil { await tellCancellation(mine.attempt) }
        }
        try await link.send(.renewed(Renewal(sequence: heartbeat.sequence)), route: name)
        guard let running = heartbeat.running, openLeases.of(slot: name)?.attempt != running.attempt,
            slots[name]?.lookedAfter != running
        else { return nil }
        slots[name]?.lookedAfter = running
        return .running(running)
    }

    /// An agent executes an attempt that this coordinator knows nothing of: it is adopted if it is open, else given up
    /// without its agent's having heard of it.
    func lookAfter(_ running: AttemptReference, _ inbox: SlotInbox) async throws {
        let (name, link) = (inbox.slot, inbox.link)
        let open = try await store.openAttempts(host: link.host.name)
        defer { if slots[name]?.lookedAfter == running { slots[name]?.lookedAfter = nil } }
        if let known = open.first(where: { $0.slot == name && $0.attempt == running.attempt }) { return adopt(known) }
        let cancellation = Cancellation(
            attempt: running.attempt,
            epoch: running.epoch,
            reason: "the coordinator has given this attempt up"
        )
        try await link.send(.cancel(cancellation), route: name)
    }

    private func isOpen(_ report: AttemptReport, _ slot: String, _ link: HostLink) async throws -> Bool {
        if holds(slot, AttemptReference(attempt: report.attempt, epoch: report.epoch), link) { return true }
        return try await store.openAttempts(host: link.host.name).contains { $0.attempt == report.attempt }
    }

    func record(_ report: AttemptReport, _ inbox: SlotInbox) async throws {
        let name = inbox.slot
        let missing: [Digest]
        do {
            missing = try await archive.completeEvidence(of: report, from: inbox.sender, gaps: inbox.lostBlobs)
        } catch let error where !mayPass(error) {
            _ = inbox.takeLostEvidence()
            throw SlotProblem.evidenceNotKept(attempt: report.attempt, reason: "\(error)")
        }
        let lost = inbox.takeLostEvidence()
        if !missing.isEmpty {
            if try await isOpen(report, name, inbox.link) {
                if let lost { throw SlotProblem.evidenceNotKept(attempt: report.attempt, reason: lost) }
                throw SlotProblem.evidenceMissing(attempt: report.attempt, blobs: missing)
            }
            // What was given up decides nothing any more, so it is filed as it is.
            try await archive.keepRest(of: report, from: inbox.sender)
        }
        let filing = try await store.record(
            report,
            bytes: try CanonicalJSON.encode(report),
            host: inbox.link.host.name,
            now: Timestamp.now().milliseconds
        )
        let reference = AttemptReference(attempt: report.attempt, epoch: report.epoch)
        if holds(name, reference, inbox.link) {
            if filing == .recorded {
                openLeases[report.attempt] = nil
            } else {
                // The agent hears that this is no result of it and says it no more: nothing waits that keeps the lease.
                openLeases[report.attempt]?.resultWaits = false
            }
        }
        let kind = report.device.platform.kind
        changes.publish(.init(.ledger, kind.rawValue), .init(.run, report.run), .init(.slot, name))
        log.info(
            "Result",
            [
                "slot": name, "attempt": report.attempt, "outcome": report.outcome.rawValue, "filing": filing.rawValue,
                "cause": report.cause?.code ?? "none",
            ]
        )
        // Whatever becomes of the channel, the slot is free.
        defer { wake() }
        let acknowledgement = Acknowledgement(attempt: report.attempt, epoch: report.epoch, filing: filing)
        try await inbox.link.send(.recorded(acknowledgement), route: name)
    }

    func tellCancellation(_ attempt: String) async {
        guard let lease = openLeases[attempt], let reason = lease.cancellation, let link = slots[lease.slot]?.link
        else {
            return
        }
        let cancellation = Cancellation(attempt: attempt, epoch: lease.epoch, reason: reason)
        // A lost message is repeated with the next heartbeat.
        try? await link.send(.cancel(cancellation), route: lease.slot)
    }
}
