import BerthArchive
import BerthCore
import BerthHosts
import BerthStore
import BerthSystem

/// Writing down what agents say, slot by slot, and asking them again for what could not be written down.
extension Farm {
    private static let shortestPause: Duration = .milliseconds(100)
    /// So often a result may come without its evidence.
    private static let mostWithoutEvidence = 5
    private static let longestPause: Duration = .seconds(2)

    /// Works off what a slot's agent says until its channel ends.
    func serve(_ inbox: SlotInbox) async {
        for await entry in inbox.entries {
            await take(entry.item, from: inbox)
            inbox.done(entry)
        }
    }

    /// Writes one item down. What the store cannot take at the moment is tried again, and holds up this slot alone.
    private func take(_ item: SlotInbox.Item, from inbox: SlotInbox) async {
        var pause = Self.shortestPause
        while !inbox.isEnded, links[inbox.link.host.name] === inbox.link {
            do {
                try await write(item, from: inbox)
                switch item {
                case .chunk: return
                // What is still to come may fail as before.
                case .hello(let hello) where !hello.unacknowledged.isEmpty: return
                default: return settle(inbox)
                }
            } catch {
                if case .chunk(let chunk) = item { return lose(chunk, inbox, error) }
                guard mayPass(error) else { return await refuse(item, inbox, error) }
                note(OutcomeCause(writing: error), inbox)
                do { try await Task.sleep(for: pause) } catch { return }
                pause = min(pause * 2, Self.longestPause)
            }
        }
    }

    private func write(_ item: SlotInbox.Item, from inbox: SlotInbox) async throws {
        switch item {
        case .hello(let hello): try await join(hello, inbox)
        case .accepted(let reference): try await accept(reference, slot: inbox.slot, from: inbox.link)
        case .declined(let declination): try await decline(declination, slot: inbox.slot, from: inbox.link)
        case .result(let report): try await record(report, inbox)
        case .running(let reference): try await lookAfter(reference, inbox)
        case .chunk(let chunk): try await archive.receive(chunk, from: inbox.sender)
        }
    }

    private func lose(_ chunk: Chunk, _ inbox: SlotInbox, _ error: any Error) {
        // Too much or with gaps: that says the result itself, by what it lacks.
        guard !(error is ArchiveError) else { return }
        let cause = OutcomeCause(writing: error)
        guard inbox.lostEvidence(cause.description, of: chunk.digest) else { return }
        log.error(
            "Cannot keep evidence",
            ["slot": inbox.slot, "blob": chunk.digest.short, "problem": cause.description]
        )
    }

    /// There was no room for an item.
    func overflow(_ item: SlotInbox.Item, _ inbox: SlotInbox) async {
        if case .chunk(let chunk) = item { return lose(chunk, inbox, SlotProblem.inboxFull) }
        await refuse(item, inbox, SlotProblem.inboxFull)
    }

    /// What cannot be written down concerns this slot alone. Its agent keeps what matters and is asked for it again.
    private func refuse(_ item: SlotInbox.Item, _ inbox: SlotInbox, _ error: any Error) async {
        switch error {
        // The channel is gone, or about to be.
        case is HostLinkError, is SSHError: return
        case StoreError.hostNotHeld(let host, let holder):
            log.notice("Host is another coordinator's", ["host": host, "holder": holder ?? "none"])
            return
        case StoreError.closed: return
        case let error as StoreError where error.refusesAgent: return await turnAway(inbox, error)
        default: break
        }
        note(OutcomeCause(writing: error), inbox)
        guard let session = slots[inbox.slot], session.link === inbox.link else { return }
        if case .result(let report) = item, case SlotProblem.evidenceMissing = error {
            // Nothing here is to blame, so the slot is not kept waiting for it for ever.
            openLeases[report.attempt]?.resultWaits = false
            await count(report, withoutEvidence: error, inbox)
        }
        slots[inbox.slot]?.asks += 1
        slots[inbox.slot]?.askAt = .now + .seconds(1 << min(session.asks, 6))
    }

    /// An agent that has been asked often enough does not have the evidence of its attempt, which then proves nothing. The
    /// result is filed beside when it comes the next time.
    private func count(_ report: AttemptReport, withoutEvidence error: any Error, _ inbox: SlotInbox) async {
        let reference = AttemptReference(attempt: report.attempt, epoch: report.epoch)
        guard holds(inbox.slot, reference, inbox.link) else { return }
        openLeases[report.attempt]?.resultsWithoutEvidence += 1
        guard let lease = openLeases[report.attempt], lease.resultsWithoutEvidence >= Self.mostWithoutEvidence else {
            return
        }
        let cause = OutcomeCause(writing: error)
        let times = "\(lease.resultsWithoutEvidence) times"
        await abandon(report.attempt, OutcomeCause(cause.code, "\(times): \(cause.message)"))
    }

    /// The agent of a slot is not the one that may speak for it, or it is set up wrongly.
    private func turnAway(_ inbox: SlotInbox, _ error: StoreError) async {
        log.error(
            "Slot refused",
            ["slot": inbox.slot, "host": inbox.link.host.name, "problem": "\(error)"]
        )
        if slots[inbox.slot]?.link === inbox.link {
            slotLeft(inbox.slot, host: inbox.link.host.name, reason: "\(error)", from: inbox.link)
            if case .slotOfOtherHost = error {
                // The name is free for the host whose it is.
                slots[inbox.slot] = nil
            } else {
                slots[inbox.slot]?.problem = OutcomeCause(writing: error)
            }
        }
        // A lost word ends the channel, which says the same.
        try? await inbox.link.send(.closing(Closing(reason: "\(error)")), route: inbox.slot)
    }

    private func note(_ cause: OutcomeCause, _ inbox: SlotInbox) {
        let session = slots[inbox.slot]
        guard session?.problem != cause || session?.link !== inbox.link else { return }
        log.error("Cannot write down what an agent says", ["slot": inbox.slot, "problem": cause.description])
        guard session?.link === inbox.link else { return }
        slots[inbox.slot]?.problem = cause
        changes.publish(.init(.slot, inbox.slot))
        tellOthers()
    }

    private func settle(_ inbox: SlotInbox) {
        guard let session = slots[inbox.slot], session.link === inbox.link, session.problem != nil,
            session.askAt == nil
        else { return }
        log.notice("What its agent says is written down again", ["slot": inbox.slot])
        slots[inbox.slot]?.problem = nil
        slots[inbox.slot]?.asks = 0
        changes.publish(.init(.slot, inbox.slot))
        tellOthers()
    }

    /// Finds the slots whose agents are to be asked again by now.
    func askAgain(at now: ContinuousClock.Instant) {
        for slot in slots.values {
            guard let due = slot.askAt, due < now, slot.link != nil else { continue }
            slots[slot.name]?.askAt = nil
            addWork.yield(.ask(slot: slot.name))
        }
    }

    /// Greets an agent anew, which answers with all that it keeps.
    func ask(_ slot: String) async {
        do {
            try await slots[slot]?.link?.greet(slot)
        } catch {
            log.error("Cannot ask an agent again", ["slot": slot, "problem": "\(error)"])
        }
    }
}
