import BerthCore
import BerthSystem
import BerthTestSupport
import Foundation
import Synchronization

/// A farm of real parts for one storm: sshd for each host, agents with stand-in devices, a coordinator, and a proxy before
/// each of them. All of it lies in one folder and on the loopback interface.
final class FaultFarm: Sendable {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    struct Host: Sendable {
        let name: String
        let ssh: TestSSHServer
        let proxy: FaultyProxy
        let slots: [String]
        /// The file system of its agents' state, if it is a small one.
        let disk: SmallDisk?
    }

    let options: FaultOptions
    let root: String
    let hosts: [Host]
    let agents: [SupervisedProcess]
    let coordinators: [SupervisedProcess]
    /// Before the first coordinator's API; it loses replies.
    let api: FaultyProxy
    /// One for each coordinator.
    let clients: [FarmClient]
    let storeDisk: SmallDisk?
    let database: TestPostgresServer?
    /// What the harness itself could not do: then nothing is proven.
    let troubles: Troubles

    var slotNames: [String] { agents.map(\.name) }
    var coordinator: SupervisedProcess { coordinators[0] }
    var client: FarmClient { clients[0] }

    private init(
        options: FaultOptions,
        root: String,
        hosts: [Host],
        agents: [SupervisedProcess],
        coordinators: [SupervisedProcess],
        api: FaultyProxy,
        clients: [FarmClient],
        storeDisk: SmallDisk?,
        database: TestPostgresServer?,
        troubles: Troubles
    ) {
        self.options = options
        self.root = root
        self.hosts = hosts
        self.agents = agents
        self.coordinators = coordinators
        self.api = api
        self.clients = clients
        self.storeDisk = storeDisk
        self.database = database
        self.troubles = troubles
    }

    /// Makes a farm in a folder of its own, does something with it, and leaves nothing behind.
    /// - Parameters:
    ///   - options: what the farm is to be like.
    ///   - keepsIf: whether what came of it has to be looked into: then the folder is kept, if the options say where. It
    ///     is kept after an error, too.
    ///   - body: what is done.
    /// - Returns: what came of it.
    /// - Throws: when the farm cannot be set up, or what `body` throws
    static func with<Value: Sendable>(
        _ options: FaultOptions,
        keepsIf: (Value) -> Bool = { _ in false },
        _ body: (FaultFarm) async throws -> Value
    ) async throws -> Value {
        Signals.ignoreBrokenPipes()
        let folder = try TemporaryDirectory()
        func keep() {
            if let place = options.keepAt { try? FileManager.default.moveItem(atPath: folder.path, toPath: place) }
        }
        options.tell(
            "farm: \(options.hosts) hosts, \(options.slots) slots, lease \(options.leaseSeconds) s, seed \(options.seed)"
        )
        var started: FaultFarm?
        do {
            let farm = try await start(options, in: folder.path)
            started = farm
            let value = try await body(farm)
            await farm.stop()
            if keepsIf(value) { keep() }
            return value
        } catch {
            await started?.stop()
            keep()
            throw error
        }
    }

    /// Makes the farm and starts it: all slots idle, the builds archived.
    static func start(_ options: FaultOptions, in root: String) async throws -> FaultFarm {
        for name in ["devices", "memory", "keys", "notes", "clocks"] { try DurableFile.makeFolder("\(root)/\(name)") }
        let database = options.usesPostgres ? try await TestPostgresServer() : nil
        let conninfo = try await database?.makeDatabase()
        let names = (1...options.coordinators).map { $0 == 1 ? "coordinator" : "coordinator-\($0)" }
        for name in names + (1...options.hosts).map({ "host-\($0)" }) { try makeClock(name, root) }
        var hosts: [Host] = []
        for number in 1...options.hosts { hosts.append(try await makeHost(number, options, root)) }
        let disks = SmallDisk.isPossible && !options.usesPostgres
        // Evidence grows with the time, and must not fill it by itself.
        let storeDisk = disks ? try SmallDisk(at: "\(root)/coordinator", megabytes: 256 + options.seconds) : nil
        let ports = try names.map { _ in try freePort() }
        // Devices are no part of any agent's disk.
        for slot in hosts.flatMap(\.slots) { try DurableFile.makeFolder("\(root)/devices/\(slot)") }
        let troubles = Troubles()
        let agents = hosts.flatMap { host in host.slots.map { agent($0, host, options, root, troubles) } }
        let coordinators = zip(names, ports).map { coordinator($0, port: $1, conninfo, options, root, troubles) }
        let api = try FaultyProxy(to: ports[0], lostReplies: options.lostReplies, seed: options.seed)
        let farm = FaultFarm(
            options: options,
            root: root,
            hosts: hosts,
            agents: agents,
            coordinators: coordinators,
            api: api,
            // The first one makes the token.
            clients: ports.enumerated().map { index, port in
                FarmClient(direct: port, flaky: index == 0 ? api.port : port, data: "\(root)/coordinator")
            },
            storeDisk: storeDisk,
            database: database,
            troubles: troubles
        )
        do {
            try await farm.begin()
        } catch {
            await farm.stop()
            throw error
        }
        return farm
    }

    private func begin() async throws {
        for host in hosts { try await host.ssh.start() }
        for agent in agents { agent.start() }
        for (coordinator, client) in zip(coordinators, clients) {
            coordinator.start()
            try await eventually("\(coordinator.name) answers", within: .seconds(30)) { await client.status() != nil }
        }
        for host in hosts {
            let key = try host.ssh.hostKeyLine.trimmingCharacters(in: .newlines)
            try await berth([
                "host", "add", host.name, "--address", "127.0.0.1:\(host.proxy.port)", "--user", host.ssh.user,
                "--identity", host.ssh.identityFile, "--host-key", key,
            ])
        }
        for name in ["old", "new"] {
            let bundle = "\(root)/\(name).app"
            try await command(
                "\(options.sources)/ops/bundle-app",
                [
                    "\(options.products)/stand-in-device", bundle, "--bundle-id", "com.example.product", "--version",
                    name == "old" ? "1.0" : "2.0", "--build", "1", "--entitlements",
                    "\(options.sources)/Sources/SampleApps/Product.entitlements",
                ]
            )
            try await berth(["build", "add", bundle])
        }
        try await waitForSlots(within: .seconds(60 + options.slots / 4))
        guard !options.coordinatorHooks.isEmpty else { return }
        coordinator.signal(SIGTERM)
        try await eventually("the coordinator is broken", within: .seconds(30)) { coordinator.starts > 1 }
        try await waitForSlots(within: .seconds(60))
    }

    /// Suspends until all slots are connected.
    func waitForSlots(within limit: Duration) async throws {
        try await eventually("all slots are there", within: limit) {
            guard let status = await client.status() else { return false }
            return status.hosts.flatMap(\.slots).count { $0.state != .offline } == options.slots
        }
    }

    /// Ends everything that was started.
    func stop() async {
        for agent in agents { agent.signal(SIGCONT) }
        for coordinator in coordinators { await coordinator.stop() }
        await withTaskGroup { group in
            for agent in agents { group.addTask { await agent.stop() } }
        }
        api.stop()
        for host in hosts {
            host.proxy.stop()
            await host.ssh.stop()
            host.disk?.unmount()
        }
        storeDisk?.unmount()
        try? await database?.kill()
    }

    // MARK: Parts

    private static func makeHost(_ number: Int, _ options: FaultOptions, _ root: String) async throws -> Host {
        let folder = "\(root)/host-\(number)"
        for name in ["ssh", "sockets", "cache"] { try DurableFile.makeFolder("\(folder)/\(name)") }
        let attach = "\(options.products)/berth-agent attach --sockets \(folder)/sockets --cache \(folder)/cache"
        let pipe =
            "\(options.products)/berth-faults pipe --memory \(root)/memory --seed \(options.seed &+ UInt64(number)) "
            + "--lose \(options.lostMessages)"
        let ssh = try await TestSSHServer(
            directory: "\(folder)/ssh",
            forcedCommand: options.meddlesWithMessages ? "exec \(pipe) -- \(attach)" : "exec \(attach)"
        )
        return Host(
            name: "host-\(number)",
            ssh: ssh,
            proxy: try FaultyProxy(to: ssh.port),
            slots: (1...options.slotsPerHost).map { "slot-\(number)-\($0)" },
            disk: SmallDisk.isPossible ? try SmallDisk(at: "\(folder)/slots", megabytes: 64) : nil
        )
    }

    /// How an agent is started.
    /// - Parameters:
    ///   - slot: its slot.
    ///   - host: where it is.
    ///   - options: the storm's.
    ///   - root: the farm's folder.
    ///   - notes: the name of its lossy disk's notes.
    /// - Returns: the process to start.
    static func agentSpecification(
        _ slot: String,
        _ host: Host,
        _ options: FaultOptions,
        _ root: String,
        notes: String
    ) -> ProcessSpecification {
        let folder = "\(root)/\(host.name)"
        var environment = environment(clock: host.name, notes: notes, root).merging(options.hooks) { _, hook in hook }
        environment["BERTH_HOOK_DWELL"] = options.dwellSeconds.map { "\($0)" }
        return ProcessSpecification(
            executable: "\(options.products)/berth-agent",
            arguments: [
                "serve", "--slot", slot, "--state", "\(folder)/slots/\(slot)", "--sockets", "\(folder)/sockets",
                "--cache", "\(folder)/cache", "--xcrun", "\(options.products)/stand-in-device", "--kind", "stand-in",
                "--device", "\(root)/devices/\(slot)",
            ] + (options.dwellSeconds.map { ["--status-timeout", "\($0 * 4 + 60)"] } ?? []),
            environment: environment,
            standardError: .appendingFile("\(root)/agent-\(slot).log")
        )
    }

    private static func agent(
        _ slot: String,
        _ host: Host,
        _ options: FaultOptions,
        _ root: String,
        _ troubles: Troubles
    ) -> SupervisedProcess {
        SupervisedProcess(
            slot,
            between: powerCut(slot, options, root, troubles),
            { _ in agentSpecification(slot, host, options, root, notes: slot) }
        )
    }

    private static func coordinator(
        _ name: String,
        port: UInt16,
        _ conninfo: String?,
        _ options: FaultOptions,
        _ root: String,
        _ troubles: Troubles
    ) -> SupervisedProcess {
        SupervisedProcess(name, between: powerCut(name, options, root, troubles)) { starts in
            // The farm is set up by one that is whole: what it has written stays.
            let hooks = starts == 0 ? [:] : options.coordinatorHooks
            return ProcessSpecification(
                executable: "\(options.products)/berth-coordinator",
                arguments: [
                    "serve", "--data", "\(root)/\(name)", "--archive", "\(root)/coordinator/archive", "--listen",
                    "127.0.0.1:\(port)", "--lease-seconds",
                    "\(options.leaseSeconds)",
                ] + (conninfo.map { ["--database", $0] } ?? []),
                environment: environment(clock: name, notes: name, root)
                    .merging(hooks) { _, hook in hook },
                standardError: .appendingFile("\(root)/\(name).log")
            )
        }
    }

    /// Takes from a dead process what it had not synchronised: half of the times all, else what comes after some place.
    private static func powerCut(
        _ name: String,
        _ options: FaultOptions,
        _ root: String,
        _ troubles: Troubles
    ) -> @Sendable () async -> Void {
        let own = SHA256.digest(of: Array(name.utf8)).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
        let numbers = Mutex(SeededNumbers(seed: options.seed ^ own))
        return {
            do {
                try await Threads.run(name: "power cut") {
                    // A disk that was filled on purpose is freed again.
                    var pauses = 100
                    func waitsForRoom() -> Bool {
                        usleep(100_000)
                        pauses -= 1
                        return pauses > 0
                    }
                    try LossyDisk.takeBack(notes: "\(root)/notes/\(name)", waitsForRoom: waitsForRoom) { count in
                        numbers.withLock { Bool.random(using: &$0) ? 0 : Int.random(in: 0...count, using: &$0) }
                    }
                }
            } catch {
                troubles.note("\(name): its disk's changes \(error)")
            }
        }
    }

    private static func makeClock(_ name: String, _ root: String) throws {
        try DurableFile.replace("\(root)/clocks/\(name)", with: [UInt8](repeating: 0, count: 8))
    }

    /// Sets the clock of a host's agents, or of the coordinator.
    /// - Parameters:
    ///   - name: the host's, or `coordinator`.
    ///   - shift: milliseconds that it is off the machine's from now on.
    /// - Throws: `SystemError`
    func setClock(of name: String, to shift: Int64) throws {
        let file = try FileDescriptor(path: "\(root)/clocks/\(name)", flags: O_WRONLY)
        var value = shift
        // One write of eight bytes in place: the programs have the file mapped.
        try retryingInterrupts("set the clock") { pwrite(file.number, &value, 8, 0) }
    }

    private static func freePort() throws -> UInt16 {
        // Below those that outgoing connections get: nobody takes it while the coordinator is down.
        for _ in 0..<100 {
            let port = UInt16.random(in: 10_000..<30_000)
            if (try? LoopbackListener.connect(to: port)) == nil { return port }
        }
        throw Failure(description: "found no free port")
    }

    private static func environment(clock: String, notes: String, _ root: String) -> [String: String] {
        var environment = environment
        environment["BERTH_FAULT_HARNESS"] = "1"
        environment["BERTH_HOOK_LOSSY_DISK"] = "\(root)/notes/\(notes)"
        environment["BERTH_HOOK_CLOCK"] = "\(root)/clocks/\(clock)"
        return environment
    }

    static let environment = [
        "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin",
        "HOME": NSTemporaryDirectory(),
        "BERTH_LOG": ProcessInfo.processInfo.environment["BERTH_LOG"] ?? "info",
    ]

    // MARK: Commands

    func berth(_ arguments: [String]) async throws {
        var environment = Self.environment
        environment["BERTH_COORDINATOR"] = client.address
        environment["BERTH_TOKEN_FILE"] = "\(root)/coordinator/admin.token"
        try await command("\(options.products)/berth", arguments, environment)
    }

    private func command(_ program: String, _ arguments: [String], _ environment: [String: String]? = nil) async throws
    {
        let result = try await CommandRunner.run(
            ProcessSpecification(
                executable: program,
                arguments: arguments,
                environment: environment ?? Self.environment
            ),
            timeout: .seconds(60)
        )
        guard result.termination == .exited(0) else {
            throw Failure(
                description: "\(program) \(arguments.first ?? ""): \(result.termination): \(result.errorText)"
            )
        }
    }
}
