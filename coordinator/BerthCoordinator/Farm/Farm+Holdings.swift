import BerthCore
import BerthStore
import BerthSystem

/// Holding hosts by lease, so that several coordinators share them.
///
/// What is not held any more is dropped when the store says so. As long as the store cannot be asked, nobody else can
/// take hosts either, and the agents' attempts go on.
extension Farm {
    /// Holds hosts anew at intervals, and when somebody knows of a change.
    func holdHosts(url: String) async {
        var problem: String?
        for await _ in holdingsChanged {
            do {
                let holdings = try await store.hold(
                    coordinator: name,
                    url: url,
                    length: leases.hostHold.milliseconds,
                    live: await liveStatuses()
                )
                try await take(holdings)
                problem = nil
            } catch {
                if problem != "\(error)" { log.error("Cannot hold hosts", ["problem": "\(error)"]) }
                problem = "\(error)"
            }
        }
    }

    /// Calls for a renewal four times in the length of a hold.
    func renewHoldings() async {
        while !Task.isCancelled {
            holdingsMayHaveChanged.yield()
            try? await Task.sleep(for: leases.hostHold / 4)
        }
    }

    private func take(_ holdings: Store.Holdings) async throws {
        let held = Set(holdings.hosts.map(\.name))
        for name in links.keys where !held.contains(name) { drop(name) }
        for host in holdings.hosts {
            let isNew = holdings.taken.contains(host.name)
            if let link = links[host.name], isNew || link.host != host { drop(host.name) }
            guard links[host.name] == nil else { continue }
            for attempt in try await store.openAttempts(host: host.name) { adopt(attempt) }
            log.notice("Host taken", ["host": host.name])
            keep(host)
        }
    }

    /// Holds an attempt's slot for it, which another coordinator, or an earlier life of this one, has claimed. Nothing is
    /// granted on the slot before one full lease without a word has passed.
    func adopt(_ attempt: OpenAttempt) {
        guard openLeases[attempt.attempt] == nil else { return }
        let now = ContinuousClock.now
        openLeases[attempt.attempt] = OpenLease(
            attempt: attempt.attempt,
            run: attempt.run,
            epoch: attempt.epoch,
            slot: attempt.slot,
            host: attempt.host,
            claimed: now,
            accepted: attempt.state == .running,
            deadline: now + leases.grantAfter,
            cancellation: attempt.isCancelRequested ? "the run was cancelled" : nil
        )
    }

    private func drop(_ name: String) {
        log.notice("Host given up", ["host": name])
        links[name] = nil
        linkTasks.removeValue(forKey: name)?.cancel()
        for slot in slots.values where slot.host == name {
            releases.slotLeft(slot.name)
            slots[slot.name] = nil
        }
        for lease in openLeases.all where lease.host == name { openLeases[lease.attempt] = nil }
        changes.publish(.init(.host, name))
    }

    /// Serves one host until the farm ends or gives it up.
    func tend(_ link: HostLink) async {
        let name = link.host.name
        guard links[name] === link else { return }
        // Ended by `drop`, or with the farm below.
        let task = Task { await link.run() }
        linkTasks[name] = task
        await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
    }

    /// Lets the other coordinators know soon what this one has just learned of its hosts.
    func tellOthers() {
        if store.isShared { holdingsMayHaveChanged.yield() }
    }

    private func liveStatuses() async -> [String: String] {
        var statuses: [String: String] = [:]
        for (name, link) in links {
            let status = await link.status
            let live = HostLiveStatus(
                state: status.state,
                problem: status.problem,
                clockSkew: status.clockSkew,
                nextTry: status.nextTry?.milliseconds,
                slots: slots.values.filter { $0.host == name }.reduce(into: [:]) {
                    $0[$1.name] = .init(
                        isConnected: $1.link != nil,
                        keeping: $1.keeping,
                        offlineSince: $1.offlineSince,
                        trouble: $1.problem
                    )
                }
            )
            guard let bytes = try? CanonicalJSON.encode(live) else { continue }
            statuses[name] = String(decoding: bytes, as: UTF8.self)
        }
        return statuses
    }

    /// Hears what the other coordinators tell.
    func hearNotices() async {
        for await notice in store.notices {
            switch notice {
            case nil:
                holdingsMayHaveChanged.yield()
                wake()
                await cancelWhatIsMarked()
                await endStreamsOfRevokedTokens()
            case .work: wake()
            case .batch(let id): changes.publish(.init(.batch, id))
            case .run(let id): changes.publish(.init(.run, id))
            case .ledger(let kind): changes.publish(.init(.ledger, kind))
            case .hosts:
                holdingsMayHaveChanged.yield()
                changes.publish(.init(.host, ""))
            case .cancellation: await cancelWhatIsMarked()
            case .tokens: await endStreamsOfRevokedTokens()
            }
        }
    }

    private func cancelWhatIsMarked() async {
        do {
            let marked = try await store.openAttempts().filter { attempt in
                attempt.isCancelRequested
                    && openLeases[attempt.attempt].map { $0.cancellation == nil } ?? isClaiming(attempt.slot)
            }
            await cancel(marked, reason: "the run was cancelled")
        } catch {
            log.error("Cannot look for cancelled runs", ["problem": "\(error)"])
        }
    }
}
