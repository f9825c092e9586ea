import BerthCore
import BerthHosts
import BerthStore
import BerthSystem
import Foundation

/// The living part of the coordinator: which hosts and slots are there, who works on what, until when. Everything
/// that matters stands in the store first; this actor is a cache that a restart rebuilds.
package actor Farm {
    enum Work: Sendable {
        case keepHost(HostLink)
        case dispatch(slot: String)
        case redeliver(attempt: String)
        case serve(SlotInbox)
        case ask(slot: String)
        case showedPinnedKey(host: String)
    }

    let store: Store
    let archive: CoordinatorArchive
    let leases: LeasePolicy
    let name: String
    /// Tells who asks what changed.
    package nonisolated let changes: ChangeFeed
    private let open: HostChannel.Opener
    let log = Log(component: "farm")
    private let work: AsyncStream<Work>
    let addWork: AsyncStream<Work>.Continuation
    /// One waiting call is enough: who looks, looks for all.
    let wakes: AsyncStream<Void>
    let wakeUps: AsyncStream<Void>.Continuation

    /// To the hosts that this coordinator holds.
    var links: [String: HostLink] = [:]
    var linkTasks: [String: Task<Void, Never>] = [:]
    /// Tell that hosts were enrolled, changed or given up.
    let holdingsChanged: AsyncStream<Void>
    let holdingsMayHaveChanged: AsyncStream<Void>.Continuation
    var slots: [String: SlotSession] = [:]
    var openLeases = OpenLeases()
    /// Operators' orders to release devices.
    var releases = ReleaseOrders()
    /// Reasons to cancel attempts that the store has claimed and that have not arrived here yet.
    private var earlyCancellations: [String: String] = [:]

    package init(
        name: String,
        store: Store,
        archive: CoordinatorArchive,
        leases: LeasePolicy,
        changes: ChangeFeed = ChangeFeed(),
        open: @escaping HostChannel.Opener
    ) {
        self.name = name
        self.store = store
        self.archive = archive
        self.leases = leases
        self.changes = changes
        self.open = open
        (work, addWork) = AsyncStream<Work>.makeStream()
        (holdingsChanged, holdingsMayHaveChanged) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        (wakes, wakeUps) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Holds hosts, connects to them and serves until the task is cancelled.
    /// - Parameter url: where this coordinator's API is, for the others.
    /// - Throws: `StoreError`
    package func run(url: String = "") async throws {
        await withDiscardingTaskGroup { group in
            group.addTask { await self.holdHosts(url: url) }
            group.addTask { await self.renewHoldings() }
            if store.isShared { group.addTask { await self.hearNotices() } }
            group.addTask { await self.sweep() }
            group.addTask { await self.offerWork() }
            group.addTask { await self.keepSchedule() }
            for await item in work {
                switch item {
                case .keepHost(let link): group.addTask { await self.tend(link) }
                case .dispatch(let slot): group.addTask { await self.dispatch(slot) }
                case .redeliver(let attempt): group.addTask { await self.redeliver(attempt) }
                case .serve(let inbox): group.addTask { await self.serve(inbox) }
                case .ask(let slot): group.addTask { await self.ask(slot) }
                case .showedPinnedKey(let host): group.addTask { await self.hostShowsPinnedKey(host) }
                }
            }
            group.cancelAll()
        }
        // The others need not wait for the end of the lease.
        do {
            try await store.letGo(coordinator: name)
        } catch {
            log.error("Hosts stay held until the time is over", ["problem": "\(error)"])
        }
    }

    /// The hosts with what is known of them now.
    /// - Throws: `StoreError`
    package func hostViews() async throws -> [HostView] {
        let records = try await store.slots()
        let others = try await othersHoldings()
        let services = try await store.services()
        let reservations = try await store.reservations(now: Timestamp.now().milliseconds)
        var views: [HostView] = []
        for host in try await store.hosts() {
            let other = others[host.name]
            let live = other?.live
            let status = await links[host.name]?.status ?? HostLink.Status()
            views.append(
                HostView(
                    host: host,
                    fingerprint: (try? HostKey(line: host.hostKey))?.fingerprint ?? "unreadable",
                    state: live?.state ?? status.state,
                    problem: live == nil ? status.problem : live?.problem,
                    clockSkew: live == nil ? status.clockSkew : live?.clockSkew,
                    nextTry: live == nil ? status.nextTry?.milliseconds : live?.nextTry,
                    slots: records.filter { $0.host == host.name }.map {
                        view($0, live?.slots[$0.name]).with(services: services, reservations: reservations)
                    },
                    coordinator: other?.holder ?? (links[host.name] == nil ? nil : name)
                )
            )
        }
        return views
    }

    /// Which step an attempt is at, if it is being executed.
    package func progress(of attempt: String) -> String? { openLeases[attempt]?.progress }

    /// Calls attempts off that hold a slot. One that no agent knows of yet is taken back at once.
    package func cancel(_ attempts: [OpenAttempt], reason: String) async {
        for attempt in attempts {
            // A claim that is on its way here finds the reason when it arrives.
            guard let lease = openLeases[attempt.attempt] else {
                if isClaiming(attempt.slot) { earlyCancellations[attempt.attempt] = reason }
                continue
            }
            openLeases[attempt.attempt]?.cancellation = reason
            changes.publish(.init(.run, attempt.run))
            if lease.isOffered {
                await tellCancellation(attempt.attempt)
            } else {
                await withdraw(lease, reason)
            }
        }
    }

    /// Whether a claim for a slot may have been made that has not arrived here yet.
    func isClaiming(_ slot: String) -> Bool { slots[slot]?.dispatching ?? false }

    private func withdraw(_ lease: OpenLease, _ reason: String) async {
        do {
            try await store.decline(
                attempt: lease.attempt,
                epoch: lease.epoch,
                cause: .init("cancelled", reason),
                now: Timestamp.now().milliseconds
            )
            openLeases[lease.attempt] = nil
            changes.publish(.init(.run, lease.run), .init(.slot, lease.slot))
            wake()
        } catch {
            // The run stays marked: its agent is told once it has the attempt.
            log.error("Cannot take an attempt back", ["attempt": lease.attempt, "problem": "\(error)"])
        }
    }

    private func view(_ record: SlotRecord, _ live: HostLiveStatus.Slot?) -> SlotView {
        let session = slots[record.name]
        let keeping = live == nil ? session?.keeping : live?.keeping
        let reason = keeping?.refusal ?? (live == nil ? session?.problem : live?.trouble)
        let isConnected = live?.isConnected ?? (session?.link != nil)
        let state: SlotView.State =
            if !isConnected {
                .offline
            } else if record.openAttempt != nil {
                .busy
            } else {
                reason == nil ? .idle : .held
            }
        return SlotView(
            name: record.name,
            host: record.host,
            device: record.device,
            state: state,
            attempt: record.openAttempt,
            reason: reason,
            kept: keeping?.devices.count,
            places: keeping?.places
        )
    }

    func keep(_ host: HostRecord) {
        guard links[host.name] == nil else { return }
        let (name, store, leases) = (name, store, leases)
        let link = HostLink(host: host, open: open, archive: archive, farm: self) {
            CoordinatorHello(
                coordinator: name,
                term: try await store.nextTerm(host: host.name),
                leaseMilliseconds: leases.length.milliseconds,
                heartbeatMilliseconds: leases.heartbeat.milliseconds
            )
        }
        links[host.name] = link
        addWork.yield(.keepHost(link))
    }

    func isFree(_ slot: SlotSession) -> Bool {
        slot.link != nil && slot.isRecorded && slot.keeping?.refusal == nil && !slot.dispatching
            && (slot.pausedUntil.map { $0 < .now } ?? true)
            && openLeases.of(slot: slot.name) == nil
    }

    // MARK: - Assigning

    private func dispatch(_ name: String) async {
        guard let slot = slots[name], isFree(slot) else { return }
        slots[name]?.dispatching = true
        defer { slots[name]?.dispatching = false }
        do {
            let assignment = try await store.claim(
                slot: name,
                now: Timestamp.now().milliseconds,
                nonce: Hex.encode(RandomBytes.make(16)),
                timeout: leases.attempt.milliseconds
            )
            guard let assignment else { return }
            // The host may have been given up meanwhile: then the attempt is its new holder's.
            guard let link = slot.link, slots[name]?.link === link else { return }
            hold(assignment, slot: name, accepted: false)
            changes.publish(.init(.run, assignment.run), .init(.slot, name))
            await deliver(assignment, slot: name)
        } catch {
            log.error("Cannot claim a run", ["slot": name, "problem": "\(error)"])
            slots[name]?.pausedUntil = .now + .seconds(1)
        }
    }

    func setProgress(_ step: String, of attempt: String) {
        guard let lease = openLeases[attempt], lease.progress != step else { return }
        openLeases[attempt]?.progress = step
        changes.publish(.init(.run, lease.run), .init(.slot, lease.slot))
    }

    private func redeliver(_ attempt: String) async {
        guard let lease = openLeases[attempt], lease.needsDelivery, slots[lease.slot]?.dispatching == false else {
            return
        }
        slots[lease.slot]?.dispatching = true
        defer { slots[lease.slot]?.dispatching = false }
        openLeases[attempt]?.needsDelivery = false
        do {
            guard let assignment = try await store.assignment(of: attempt) else { return }
            await deliver(assignment, slot: lease.slot)
        } catch {
            openLeases[attempt]?.needsDelivery = true
            log.error("Cannot read an assignment", ["attempt": attempt, "problem": "\(error)"])
        }
    }

    /// Offers attempts again whose delivery was cut off, or never began, to slots that are there.
    func resumeDeliveries() {
        for lease in openLeases.all where lease.needsDelivery && !lease.accepted {
            guard let slot = slots[lease.slot], slot.link != nil, slot.isRecorded, !slot.dispatching else { continue }
            addWork.yield(.redeliver(attempt: lease.attempt))
        }
    }

    private func hold(_ assignment: Assignment, slot: String, accepted: Bool) {
        let now = ContinuousClock.now
        openLeases[assignment.attempt] = OpenLease(
            attempt: assignment.attempt,
            run: assignment.run,
            epoch: assignment.epoch,
            slot: slot,
            host: slots[slot]?.host ?? "",
            claimed: now,
            accepted: accepted,
            deadline: now + leases.grantAfter,
            isOffered: false,
            cancellation: earlyCancellations.removeValue(forKey: assignment.attempt)
        )
    }

    /// Brings the builds to the host, then hands the attempt over. A cut connection is no failure: the delivery starts
    /// again when the slot is there.
    private func deliver(_ assignment: Assignment, slot: String) async {
        guard let link = slots[slot]?.link else { return }
        do {
            setProgress("transfer", of: assignment.attempt)
            try await link.provide(builds: assignment.builds.map(\.id))
            guard let lease = openLeases[assignment.attempt], slots[slot]?.link === link else { return }
            if let reason = lease.cancellation, !lease.isOffered { return await withdraw(lease, reason) }
            openLeases[assignment.attempt]?.isOffered = true
            setProgress("assign", of: assignment.attempt)
            try await link.send(.assign(assignment), route: slot)
        } catch let error as HostLinkError {
            if case .blobRefused = error {
                await abandon(assignment.attempt, .init("transfer-refused", "\(error)"))
            } else {
                cutOff(assignment.attempt, error)
            }
        } catch let error as SSHError {
            cutOff(assignment.attempt, error)
        } catch {
            await abandon(assignment.attempt, .init("archive-unusable", "\(error)"))
        }
    }

    private func cutOff(_ attempt: String, _ error: any Error) {
        log.error("Delivery cut off", ["attempt": attempt, "problem": "\(error)"])
        openLeases[attempt]?.needsDelivery = true
    }

    // MARK: - Leases

    /// Gives up attempts whose lease has ended.
    private func sweep() async {
        while !Task.isCancelled {
            try? await Task.sleep(for: .milliseconds(200))
            let now = ContinuousClock.now
            for lease in openLeases.all {
                if lease.deadline < now {
                    await abandon(
                        lease.attempt,
                        .init("lease-expired", "slot \(lease.slot) was not heard from for one lease")
                    )
                } else if !lease.accepted, lease.claimed + leases.preparation < now {
                    await abandon(
                        lease.attempt,
                        .init("preparation-timeout", "the builds did not reach the host in time")
                    )
                }
            }
            resumeDeliveries()
            askAgain(at: now)
        }
    }

    func abandon(_ attempt: String, _ cause: OutcomeCause) async {
        guard let lease = openLeases[attempt] else { return }
        do {
            _ = try await store.giveUp(
                attempt: attempt,
                epoch: lease.epoch,
                cause: cause,
                now: Timestamp.now().milliseconds
            )
            openLeases[attempt] = nil
            changes.publish(.init(.run, lease.run), .init(.slot, lease.slot))
            // A slot that has not joined since the start is of either kind.
            let kinds = slots[lease.slot].map { [$0.device.platform.kind] } ?? DeviceKind.allCases
            for kind in kinds { changes.publish(.init(.ledger, kind.rawValue)) }
            log.error("Attempt given up", ["attempt": attempt, "slot": lease.slot, "cause": cause.description])
            wake()
        } catch StoreError.hostNotHeld(let host, let holder) {
            log.notice(
                "Attempt is another coordinator's",
                ["attempt": attempt, "host": host, "holder": holder ?? "none"]
            )
            openLeases[attempt] = nil
        } catch {
            // The lease stays, so that the next sweep tries again.
            log.error("Cannot give an attempt up", ["attempt": attempt, "problem": "\(error)"])
        }
    }
}
