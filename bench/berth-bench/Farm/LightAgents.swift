import BerthAgent
import BerthArchive
import BerthCore
import BerthSystem
import Synchronization

/// The real agents of many slots, on light devices, in this one process: only a bench does that.
final class LightAgents: Sendable {
    static let os = OSPin(version: "18.0", build: "22A1")

    private struct Slot: Sendable {
        let agent: SlotAgent
        let listener: UnixListener
        let heartbeats: Task<Void, Never>
        let lock: FileLock
    }

    let starts = Starts()
    private let slots = Mutex<[Slot]>([])

    /// Starts the agents of a host's slots; blocks.
    /// - Parameters:
    ///   - names: the slots.
    ///   - host: the host's folder, with `sockets` and `cache`.
    ///   - tool: what an attempt spawns once.
    /// - Throws: `SystemError`, `AgentFailure`, `JournalError`
    func start(_ names: [String], host: String, tool: String) throws {
        let cache = try BlobDirectory(path: "\(host)/cache")
        // The locks first, as an agent alone has its own: what a tool inherits has a low number, and what lies below it is
        // closed one by one.
        let locks = try names.map { name in
            try DurableFile.makeFolder("\(host)/slots/\(name)")
            return try DeviceLock.acquire(path: "\(host)/slots/\(name)/device.lock", slot: name, leftovers: [])
        }
        for (name, lock) in zip(names, locks) {
            let state = "\(host)/slots/\(name)"
            let journal = try Journal(path: "\(state)/journal")
            let driver = LightDriver(
                facts: DeviceFacts(identity: "device-\(name)", platform: .linuxSimulated, model: "Light", os: Self.os),
                deviceTool: DeviceTool(xcrun: tool, lock: lock, journal: journal),
                starts: starts
            )
            let places = SlotPlaces(
                slot: name,
                machine: "bench",
                user: "bench",
                agent: "berth-bench",
                state: state,
                xcrun: tool,
                lock: "\(state)/device.lock"
            )
            let agent = SlotAgent(
                try SlotAgent.Parts(
                    places: places,
                    journal: journal,
                    lock: lock,
                    driver: driver,
                    cache: cache,
                    statusTimeout: .seconds(30),
                    hooks: try HarnessHooks([:])
                )
            )
            let listener = try UnixListener(path: "\(host)/sockets/\(name).sock")
            Threads.detach(name: "accept \(name)") {
                while let connection = try? listener.accept() { agent.connect(connection) }
            }
            // Cancelled by `stop`.
            let heartbeats = Task { await agent.beat() }
            slots.withLock {
                $0.append(Slot(agent: agent, listener: listener, heartbeats: heartbeats, lock: lock))
            }
        }
    }

    /// Ends all agents.
    func stop() async {
        let all = slots.withLock { slots in
            defer { slots = [] }
            return slots
        }
        for slot in all {
            slot.listener.shutdown()
            slot.heartbeats.cancel()
        }
        await withTaskGroup(of: Void.self) { group in
            for slot in all { group.addTask { await slot.agent.stop() } }
        }
        for slot in all { slot.lock.release() }
    }
}
