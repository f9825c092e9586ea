import BerthCore
import BerthSystem
import BerthTestSupport
import Foundation
import Synchronization

/// Does faults to a farm and notes them, each with the devices that it reaches.
final class FaultMaker: Sendable {
    private struct State {
        var disturbances: [Disturbance] = []
        var counts: [String: Int] = [:]
        var outages: [Double] = []
        /// Faults under way that must not meet another of their kind.
        var busy: Set<String> = []
    }

    private let farm: FaultFarm
    private let state = Mutex(State())

    init(_ farm: FaultFarm) { self.farm = farm }

    var disturbances: [Disturbance] { state.withLock { $0.disturbances } }
    var counts: [String: Int] { state.withLock { $0.counts } }
    var outages: [Double] { state.withLock { $0.outages } }

    static func now() -> Int64 {
        var moment = timespec()
        clock_gettime(CLOCK_MONOTONIC, &moment)
        return Int64(moment.tv_sec) * 1_000_000_000 + Int64(moment.tv_nsec)
    }

    func make(_ fault: FaultSchedule.Fault) async {
        guard let place = place(fault), state.withLock({ $0.busy.insert(place).inserted }) else { return }
        let from = Self.now()
        let devices = devices(fault)
        let isFatal = await carryOut(fault)
        state.withLock {
            $0.busy.remove(place)
            $0.counts[fault.name, default: 0] += 1
            guard let isFatal else { return }
            $0.disturbances.append(
                Disturbance(fault.name, devices: devices, from: from, to: Self.now(), isFatal: isFatal)
            )
        }
    }

    /// Notes a fault that was done elsewhere and is over now.
    func note(_ fault: FaultSchedule.Fault, from: Int64) {
        let devices = devices(fault)
        state.withLock {
            $0.counts[fault.name, default: 0] += 1
            $0.disturbances.append(
                Disturbance(fault.name, devices: devices, from: from, to: Self.now(), isFatal: false)
            )
        }
    }

    /// Makes good what may still be broken.
    func calm() async {
        for host in farm.hosts { host.proxy.clear() }
        for agent in farm.agents { agent.signal(SIGCONT) }
        farm.coordinator.signal(SIGCONT)
    }

    // MARK: Where

    /// What a fault takes hold of: one at a time.
    private func place(_ fault: FaultSchedule.Fault) -> String? {
        switch fault {
        case .killAgent(let slot), .stopAgent(let slot, _), .freezeSlot(let slot, _), .secondAgent(let slot):
            farm.slotNames[slot]
        case .killCoordinator, .stopCoordinator: "coordinator"
        case .killConnections(let host), .partition(let host, _, _), .reset(let host), .cut(let host, _),
            .delay(let host, _, _):
            farm.hosts[host].name
        case .fillDisk(let host, _): farm.hosts[host].disk.map { $0.path }
        case .fillStore: farm.storeDisk?.path
        case .killDatabase: farm.database == nil ? nil : "database"
        case .jumpClock(let host, _): "clock of \(clock(host))"
        }
    }

    private func clock(_ host: Int?) -> String { host.map { farm.hosts[$0].name } ?? "coordinator" }

    private func devices(_ fault: FaultSchedule.Fault) -> Set<String> {
        switch fault {
        case .killAgent(let slot), .stopAgent(let slot, _), .freezeSlot(let slot, _), .secondAgent(let slot):
            [farm.slotNames[slot]]
        case .killCoordinator, .stopCoordinator, .fillStore, .killDatabase: Set(farm.slotNames)
        case .jumpClock: []
        case .killConnections(let host), .partition(let host, _, _), .reset(let host), .cut(let host, _),
            .delay(let host, _, _), .fillDisk(let host, _):
            Set(farm.hosts[host].slots)
        }
    }

    // MARK: What

    /// - Returns: whether it ends what it meets at once; nil when it must end nothing.
    private func carryOut(_ fault: FaultSchedule.Fault) async -> Bool? {
        switch fault {
        case .killAgent(let slot):
            farm.agents[slot].signal(SIGKILL)
            return true
        case .stopAgent(let slot, let milliseconds):
            await stop(farm.agents[slot], milliseconds)
            return false
        case .freezeSlot(let slot, let milliseconds):
            let agent = farm.agents[slot]
            // First the agent, so that it starts nothing new meanwhile.
            agent.signal(SIGSTOP)
            let tools = agent.process.map { Self.children(of: $0.pid) } ?? []
            for tool in tools { kill(tool, SIGSTOP) }
            try? await Task.sleep(for: .milliseconds(milliseconds))
            for tool in tools { kill(tool, SIGCONT) }
            agent.signal(SIGCONT)
            return false
        case .secondAgent(let slot):
            await startSecond(farm.slotNames[slot])
            return nil
        case .killCoordinator:
            await killCoordinator()
            return false
        case .stopCoordinator(let milliseconds):
            await stop(farm.coordinator, milliseconds)
            return false
        case .killConnections(let host):
            for process in farm.hosts[host].ssh.connectionProcesses { kill(process, SIGKILL) }
            return await untilConnected(host)
        case .partition(let host, let direction, let milliseconds):
            farm.hosts[host].proxy.block(toTarget: direction != .fromHost, fromTarget: direction != .toHost)
            try? await Task.sleep(for: .milliseconds(milliseconds))
            farm.hosts[host].proxy.block(toTarget: false, fromTarget: false)
            return await untilConnected(host)
        case .reset(let host):
            farm.hosts[host].proxy.reset()
            return await untilConnected(host)
        case .cut(let host, let bytes):
            farm.hosts[host].proxy.cut(after: bytes)
            try? await Task.sleep(for: .milliseconds(500))
            return await untilConnected(host)
        case .delay(let host, let milliseconds, let each):
            farm.hosts[host].proxy.delay(milliseconds: UInt32(each))
            try? await Task.sleep(for: .milliseconds(milliseconds))
            farm.hosts[host].proxy.delay(milliseconds: 0)
            return false
        case .fillDisk(let host, let milliseconds):
            if let disk = farm.hosts[host].disk { await fill(disk, milliseconds) }
            return true
        case .fillStore(let milliseconds):
            if let disk = farm.storeDisk { await fill(disk, milliseconds) }
            return false
        case .killDatabase:
            try? await farm.database?.kill()
            try? await farm.database?.start()
            return false
        case .jumpClock(let host, let steps):
            try? farm.setClock(of: clock(host), to: Int64(steps) * farm.options.clockStep)
            return nil
        }
    }

    private func stop(_ process: SupervisedProcess, _ milliseconds: Int) async {
        process.signal(SIGSTOP)
        try? await Task.sleep(for: .milliseconds(milliseconds))
        process.signal(SIGCONT)
    }

    /// A break lasts until the farm has the host's slots again; that it comes back at all is awaited for some seconds.
    private func untilConnected(_ host: Int) async -> Bool? {
        let deadline = ContinuousClock.now + .seconds(15)
        while ContinuousClock.now < deadline {
            let status = await farm.client.status()
            let slots = status?.hosts.first { $0.host.name == farm.hosts[host].name }?.slots ?? []
            if !slots.isEmpty, slots.allSatisfy({ $0.state != .offline }) { break }
            try? await Task.sleep(for: .milliseconds(50))
        }
        return false
    }

    private func killCoordinator() async {
        let began = ContinuousClock.now
        farm.coordinator.signal(SIGKILL)
        let starts = farm.coordinator.starts
        while ContinuousClock.now < began + .seconds(30) {
            if farm.coordinator.starts > starts, await farm.client.status() != nil { break }
            try? await Task.sleep(for: .milliseconds(10))
        }
        let lasted = ContinuousClock.now - began
        state.withLock {
            $0.outages.append(Double(lasted.components.seconds) + Double(lasted.components.attoseconds) / 1e18)
        }
        // The hosts come back after it.
        for host in farm.hosts.indices { _ = await untilConnected(host) }
    }

    /// The device's lock must turn a second agent away.
    private func startSecond(_ slot: String) async {
        guard let host = farm.hosts.first(where: { $0.slots.contains(slot) }),
            let process = try? ChildProcess.spawn(
                FaultFarm.agentSpecification(slot, host, farm.options, farm.root, notes: "\(slot).second")
            )
        else { return }
        try? await Task.sleep(for: .milliseconds(1500))
        await process.end(grace: .milliseconds(500))
    }

    private func fill(_ disk: SmallDisk, _ milliseconds: Int) async {
        let path = "\(disk.path)/filler"
        _ = try? await Threads.run(name: "fill") {
            let file = try FileDescriptor(path: path, flags: O_WRONLY | O_CREAT)
            let block = [UInt8](repeating: 1, count: 1 << 16)
            // Ends with ENOSPC; the last bytes go one page at a time.
            do { while true { try file.write(block) } } catch {}
            do { while true { try file.write(block[..<4096]) } } catch {}
        }
        try? await Task.sleep(for: .milliseconds(milliseconds))
        unlink(path)
    }

    private static func children(of parent: Int32) -> [Int32] {
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(parent)/task")) ?? []
        return threads.flatMap { thread -> [Int32] in
            let path = "/proc/\(parent)/task/\(thread)/children"
            let text = FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) } ?? ""
            return text.split(separator: " ").compactMap { Int32($0) }
        }
    }
}
