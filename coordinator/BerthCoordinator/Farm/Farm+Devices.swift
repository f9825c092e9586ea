import BerthCore
import BerthStore
import BerthSystem

/// Why a device cannot be released by way of the farm.
enum DeviceError: Error, CustomStringConvertible {
    case unknown(udid: String, known: [String])
    /// Only the coordinator that holds the host can reach the agent.
    case heldElsewhere(udid: String, slot: String, host: String, holder: String, url: String)
    case slotOffline(udid: String, slot: String, host: String, problem: String?)

    var description: String {
        switch self {
        case .unknown(let udid, let known):
            "no slot keeps a device \(udid.prefix(80).debugDescription); "
                + (known.isEmpty ? "none is kept" : "there are \(known.joined(separator: ", "))")
        case .heldElsewhere(let udid, let slot, let host, let holder, let url):
            "slot \(slot), which keeps \(udid), is on host \(host), and coordinator \(holder) holds that: ask \(holder) "
                + "at \(url.isEmpty ? "its own address" : url)"
        case .slotOffline(let udid, let slot, let host, let problem):
            "slot \(slot) on host \(host), which keeps \(udid), is not connected\(problem.map { " (\($0))" } ?? ""): start its "
                + "agent, or release the device there with berth-agent release"
        }
    }
}

/// What slots keep after failures, and how it is released.
extension Farm {
    /// How long an answer to an order is waited for.
    private static let patience: Duration = .seconds(40)

    /// What all slots keep, as far as their agents have said so since the start of the coordinator that holds their host.
    /// - Throws: `StoreError`
    package func devices() async throws -> [DeviceView] {
        let others = try await othersHoldings()
        let all = others.isEmpty ? [] : try await store.slots()
        let elsewhere = all.flatMap { slot -> [DeviceView] in
            guard let live = others[slot.host]?.live?.slots[slot.name], let keeping = live.keeping else { return [] }
            return keeping.devices.map { device in
                DeviceView(
                    device: device,
                    slot: slot.name,
                    host: slot.host,
                    platform: slot.device.platform,
                    model: slot.device.model,
                    places: keeping.places,
                    offlineSince: live.offlineSince,
                    release: nil
                )
            }
        }
        return (ownDevices() + elsewhere).sorted {
            ($0.slot, $0.device.since, $0.device.udid) < ($1.slot, $1.device.since, $1.device.udid)
        }
    }

    private func ownDevices() -> [DeviceView] {
        slots.values.flatMap { slot -> [DeviceView] in
            guard let keeping = slot.keeping else { return [] }
            return keeping.devices.map { device in
                DeviceView(
                    device: device,
                    slot: slot.name,
                    host: slot.host,
                    platform: slot.device.platform,
                    model: slot.device.model,
                    places: keeping.places,
                    offlineSince: slot.offlineSince,
                    release: releases.order(for: device.udid)
                )
            }
        }
    }

    /// Has the agent of a device's slot let go of it, and waits a while for the outcome.
    /// - Throws: `DeviceError`, `StoreError`
    package func release(_ udid: String, unclean: String?, by caller: String) async throws -> ReleaseView {
        let all = try await devices()
        let matching = all.filter { $0.device.udid.uppercased() == udid.uppercased() }
        // A slot that was given another name is listed under its old one too.
        guard let device = matching.first(where: { $0.offlineSince == nil }) ?? matching.first else {
            throw DeviceError.unknown(udid: udid, known: all.map(\.device.udid))
        }
        let name = device.device.udid
        if let other = try await othersHoldings()[device.host] {
            throw DeviceError.heldElsewhere(
                udid: name,
                slot: device.slot,
                host: device.host,
                holder: other.holder,
                url: other.url
            )
        }
        guard let link = slots[device.slot]?.link else {
            throw DeviceError.slotOffline(udid: name, slot: device.slot, host: device.host, problem: nil)
        }
        let order = releases.begin(name, slot: device.slot, by: caller)
        log.notice("Release ordered", ["device": name, "slot": device.slot, "by": caller])
        do {
            let message = DeviceRelease(request: order.request, udid: name, by: caller, unclean: unclean)
            try await link.send(.release(message), route: device.slot)
        } catch {
            releases.end(order.request, name, refusal: OutcomeCause("slot-left", "\(error)"))
            throw DeviceError.slotOffline(udid: name, slot: device.slot, host: device.host, problem: "\(error)")
        }
        // Ends by itself; who waits no longer is let go of once.
        let timer = Task {
            try await Task.sleep(for: Self.patience)
            self.stopWaiting(for: order.request)
        }
        await withCheckedContinuation { releases.wait(for: order, $0) }
        timer.cancel()
        return releases.order(for: name) ?? order
    }

    /// The latest order to release a device.
    package func releaseOrder(for udid: String) -> ReleaseView? { releases.order(for: udid) }

    private func stopWaiting(for request: UInt64) { releases.stopWaiting(for: request) }

    func hear(_ keeping: SlotKeeping, slot name: String) {
        guard let before = slots[name]?.keeping, before != keeping else { return }
        slots[name]?.keeping = keeping
        if before.refusal?.code != keeping.refusal?.code {
            log.notice("Slot's readiness", ["slot": name, "reason": keeping.refusal?.description ?? "takes runs"])
        }
        changes.publish(.init(.slot, name))
        if keeping.refusal == nil { wake() }
    }

    func hear(_ answer: DeviceReleased, slot name: String, from link: HostLink) {
        guard slots[name]?.link === link, releases.order(for: answer.udid)?.slot == name else { return }
        log.notice(
            "Release",
            ["device": answer.udid, "slot": name, "cause": answer.refusal?.description ?? "released"]
        )
        releases.end(answer.request, answer.udid, refusal: answer.refusal)
        changes.publish(.init(.slot, name))
    }
}
