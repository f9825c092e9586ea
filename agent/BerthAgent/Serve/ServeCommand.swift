import BerthArchive
import BerthCore
import BerthSystem
import Foundation

/// `berth-agent serve`: the agent of one slot, until SIGTERM or until it cannot go on.
package enum ServeCommand {
    private static let log = Log(component: "agent")

    private enum End {
        case signal(Int32)
        case failure(AgentFailure)
    }

    /// Runs the agent.
    /// - Throws: `AgentFailure`
    package static func run(_ options: ServeOptions) async throws {
        Signals.ignoreBrokenPipes()
        let signals = Signals.endRequests()
        do {
            try await serve(options, signals)
        } catch {
            throw failure(error, state: options.state)
        }
    }

    private static func serve(_ options: ServeOptions, _ signals: AsyncStream<Int32>) async throws {
        let hooks = try HarnessHooks(ProcessInfo.processInfo.environment)
        if case .standIn = options.device, !hooks.isHarness {
            throw AgentFailure(.usage, "--kind \(Platform.standIn.rawValue): there are simulator and hardware")
        }
        try hooks.begin()
        try StateFolder.require(options.state)
        try DurableFile.makeFolder(options.sockets)
        let journalPath = options.state + "/journal"
        let lockPath = try lockPath(options)
        let lock = try await Threads.run(name: "lock") {
            try DeviceLock.acquire(
                // Without fencing every agent has a lock of its own.
                path: hooks.ignoresFencing ? "\(lockPath).\(getpid())" : lockPath,
                slot: options.slot,
                leftovers: Journal.leftovers(path: journalPath)
            )
        }
        let places = SlotPlaces(options, lock: lockPath)
        try SlotFile(places: places).write()
        let journal = try Journal(path: journalPath)
        guard access(options.xcrun, X_OK) == 0 else {
            throw AgentFailure(.toolUnavailable, "\(options.xcrun) is no program; name xcrun with --xcrun")
        }
        let tool = DeviceTool(xcrun: options.xcrun, lock: lock, journal: journal)
        let cache = try BlobDirectory(path: options.cache)
        let driver = try await driver(options, tool, cache, hooks)
        let parts = try SlotAgent.Parts(
            places: places,
            journal: journal,
            lock: lock,
            driver: driver,
            cache: cache,
            statusTimeout: options.statusTimeout,
            hooks: hooks
        )
        try await AttemptRecovery.run(parts, workFolder: SlotAgent.Parts.workFolder(options.state))
        let agent = SlotAgent(parts)
        let listener = try UnixListener(path: "\(options.sockets)/\(options.slot).sock")
        defer { listener.shutdown() }
        accept(listener, agent)
        log.notice(
            "the slot is ready",
            [
                "slot": options.slot, "device": driver.facts.identity, "platform": driver.facts.platform.rawValue,
                "os": driver.facts.os.description,
            ]
        )
        // Cancelled below, when the agent ends.
        let heartbeats = Task { await agent.beat() }
        defer { heartbeats.cancel() }
        // Cancelled and awaited below: what it runs on the device must not outlive the agent.
        let upkeep = Task { await DeviceUpkeep(agent).run() }
        defer { upkeep.cancel() }
        switch await end(signals, agent) {
        case .failure(let failure):
            throw failure
        case .signal(let number):
            log.notice("asked to end", ["signal": "\(number)"])
            upkeep.cancel()
            await agent.stop()
            await upkeep.value
        }
        withExtendedLifetime(lock) {}
    }

    /// Where the lock of the slot's device lies: in its device set, or in the host's folder under the phone's UDID.
    private static func lockPath(_ options: ServeOptions) throws -> String {
        switch options.device {
        case .simulator:
            try DurableFile.makeFolder(options.deviceSet)
            return DeviceLock.path(inSet: options.deviceSet)
        case .hardware(let wish, let locks):
            try DurableFile.makeFolder(locks)
            return "\(locks)/\(wish.udid.uppercased()).lock"
        case .standIn(let folder):
            // A device outlives a power cut of its host, with all that it has noted.
            try DurableFile.makeFolder(folder, lasting: true)
            return "\(folder)/device.lock"
        }
    }

    private static func driver(
        _ options: ServeOptions,
        _ tool: DeviceTool,
        _ cache: BlobDirectory,
        _ hooks: HarnessHooks
    ) async throws -> any DeviceDriver {
        switch options.device {
        case .simulator(let wish, let preservedLimit):
            try await SimulatorDriver.prepare(
                tool: tool,
                state: options.state,
                set: options.deviceSet,
                limits: SimulatorTool.Limits(),
                wish: wish,
                preservedLimit: preservedLimit,
                bootLock: options.cache + "/boot.lock"
            )
        case .hardware(let wish, _):
            try await DevicectlDriver.prepare(
                tool: tool,
                state: options.state,
                cache: cache,
                limits: DevicectlTool.Limits(),
                wish: wish
            )
        case .standIn(let folder): try StandInDriver(tool: tool, folder: folder, dwell: hooks.dwell)
        }
    }

    private static func accept(_ listener: UnixListener, _ agent: SlotAgent) {
        Threads.detach(name: "accept") {
            while true {
                do {
                    agent.connect(try listener.accept())
                } catch let error as SystemError where error.code == EMFILE || error.code == ENFILE {
                    log.error("cannot take a connection", ["error": "\(error)"])
                    usleep(100_000)
                } catch {
                    return
                }
            }
        }
    }

    private static func end(_ signals: AsyncStream<Int32>, _ agent: SlotAgent) async -> End {
        await withTaskGroup(of: End.self) { group in
            group.addTask {
                for await number in signals { return .signal(number) }
                return .signal(SIGTERM)
            }
            group.addTask {
                for await failure in agent.failure { return .failure(failure) }
                return .signal(SIGTERM)
            }
            defer { group.cancelAll() }
            return await group.next() ?? .signal(SIGTERM)
        }
    }

    private static func failure(_ error: any Error, state: String) -> AgentFailure {
        switch error {
        case let failure as AgentFailure: failure
        case let error as JournalError:
            AgentFailure(error.isDamage ? .damagedState : .disk, "\(error)")
        case let error as FormatError: AgentFailure(.damagedState, "\(error)")
        case let error as DeviceToolError:
            // The tool's words for a full disk are its own.
            if let trouble = StateFolder.look(state) {
                AgentFailure(.disk, "\(trouble), then start the agent again (\(error))")
            } else {
                AgentFailure(.toolUnavailable, "\(error)")
            }
        default: AgentFailure(.disk, "\(DiskTrouble(error)), then start the agent again")
        }
    }
}
