import BerthArchive
import BerthCore
import BerthStore
import BerthSystem
import BerthTestSupport
import Foundation

/// A whole farm on loopback: the real coordinator in a process of its own, hosts behind real sshd with the real
/// `berth-agent attach`, and real agents on light devices in this process.
final class BenchFarm: Sendable {
    /// How large it is, and what its attempts spawn.
    struct Shape: Sendable {
        let hosts: Int
        let slotsPerHost: Int
        /// The program that each attempt spawns once; one that is not there spawns nothing.
        var tool = "/nonexistent/xcrun"

        var slots: Int { hosts * slotsPerHost }
    }

    let agents: LightAgents
    let coordinator: ChildProcess
    private let port: UInt16
    private let token: String
    private let servers: [TestSSHServer]

    /// Starts the farm and returns once all slots are idle.
    static func start(_ shape: Shape, _ options: BenchOptions) async throws -> BenchFarm {
        let folder = "\(options.folder)/farm-\(Hex.encode(RandomBytes.make(3)))"
        var servers: [TestSSHServer] = []
        let agents = LightAgents()
        do {
            var hosts: [HostRecord] = []
            for number in 1...shape.hosts {
                let host = "\(folder)/h\(number)"
                for name in ["sockets", "cache", "sshd"] { try DurableFile.makeFolder("\(host)/\(name)") }
                let server = try await TestSSHServer(
                    directory: "\(host)/sshd",
                    forcedCommand:
                        "\(options.programs)/berth-agent attach --sockets \(host)/sockets --cache \(host)/cache"
                )
                try await server.start()
                servers.append(server)
                let names = (1...shape.slotsPerHost).map { "h\(number)-\($0)" }
                try await Threads.run(name: "start agents") { try agents.start(names, host: host, tool: shape.tool) }
                hosts.append(
                    HostRecord(
                        name: "h\(number)",
                        hostName: "127.0.0.1",
                        port: server.port,
                        user: server.user,
                        identityFile: server.identityFile,
                        hostKey: try server.hostKeyLine.trimmingCharacters(in: .whitespacesAndNewlines)
                    )
                )
            }
            try await prepare("\(folder)/coordinator", hosts: hosts)
            let farm = try await BenchFarm(folder: "\(folder)/coordinator", agents, servers, options)
            do {
                try await farm.waitForSlots(shape.slots)
                return farm
            } catch {
                await farm.stop()
                throw error
            }
        } catch {
            await agents.stop()
            for server in servers { await server.stop() }
            throw error
        }
    }

    private init(
        folder: String,
        _ agents: LightAgents,
        _ servers: [TestSSHServer],
        _ options: BenchOptions
    ) async throws {
        self.agents = agents
        self.servers = servers
        let process = try ChildProcess.spawn(
            ProcessSpecification(
                executable: "\(options.programs)/berth-coordinator",
                arguments: ["serve", "--data", folder, "--listen", "127.0.0.1:0"],
                environment: ["PATH": "/usr/bin:/bin"],
                standardError: .appendingFile("\(folder)/log")
            )
        )
        coordinator = process
        do {
            try await eventually("the coordinator serves") {
                if let termination = process.termination {
                    throw BenchFailure("the coordinator ended with \(termination)")
                }
                return access("\(folder)/address", F_OK) == 0
            }
            let address = try Self.line("\(folder)/address")
            guard let port = address.split(separator: ":").last.flatMap({ UInt16($0) }) else {
                throw BenchFailure("the coordinator's address is \(address)")
            }
            self.port = port
            token = try Self.line("\(folder)/admin.token")
        } catch {
            _ = await process.end(grace: .seconds(2))
            throw error
        }
    }

    private static func line(_ path: String) throws -> String {
        String(decoding: try DurableFile.read(path, limit: 4096), as: UTF8.self)
            .trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Two builds and the hosts, as if they had been added before the coordinator's last start.
    private static func prepare(_ folder: String, hosts: [HostRecord]) async throws {
        try DurableFile.makeFolder(folder)
        let blobs = try BlobDirectory(path: "\(folder)/archive")
        let program = try DurableFile.read("/bin/true", limit: 1 << 20)
        let entitlements = Array(
            """
            <?xml version="1.0" encoding="UTF-8"?>
            <plist version="1.0"><dict><key>application-identifier</key><string>TEAM.com.example.product</string></dict></plist>
            """.utf8
        )
        let store = try await Store.open(path: "\(folder)/store.sqlite")
        for (name, number) in [("legacy", "1"), ("correct", "2")] {
            let manifest = BuildManifest(
                name: "\(name).app",
                entries: [
                    .file(
                        "program",
                        size: Int64(program.count),
                        executable: true,
                        digest: try blobs.insert(program)
                    ),
                    .file(
                        "archived-expanded-entitlements.xcent",
                        size: Int64(entitlements.count),
                        executable: false,
                        digest: try blobs.insert(entitlements)
                    ),
                ]
            )
            let id = try blobs.insert(try CanonicalJSON.encode(manifest))
            let description = BuildDescription(
                name: name,
                bundleIdentifier: "com.example.product",
                version: number,
                number: number,
                platform: .linuxSimulated,
                minimumOS: nil,
                executable: "program"
            )
            _ = try await store.addBuild(id, description, size: Int64(program.count), now: 1)
        }
        for host in hosts { try await store.addHost(host, now: 1) }
        await store.close()
    }

    /// A connection to the API, for one thread.
    func connect() throws -> LoopbackHTTP { try LoopbackHTTP(port: port, token: token) }

    private func waitForSlots(_ count: Int) async throws {
        let deadline = ContinuousClock.now + .seconds(90)
        while true {
            let idle = try await Threads.run(name: "look at hosts") { [self] in
                let body = try connect().request("GET", "/v1/hosts")
                return try CanonicalJSON.decode([HostView].self, from: body, document: "hosts")
                    .flatMap(\.slots).count { $0.state == .idle }
            }
            if idle == count { return }
            guard ContinuousClock.now < deadline else { throw BenchFailure("\(idle) of \(count) slots are idle") }
            try await Task.sleep(for: .milliseconds(200))
        }
    }

    /// Queues runs that no item of the old build is needed for; gives the batch.
    static func submit(_ repeats: Int, _ connection: LoopbackHTTP) throws -> BatchView {
        let request = BatchRequest(
            old: "legacy",
            new: ["correct"],
            cases: ["fresh-install"],
            platform: .linuxSimulated,
            os: "latest",
            repeats: repeats,
            priority: 0
        )
        let body = try connection.request("POST", "/v1/batches", try CanonicalJSON.encode(request))
        return try CanonicalJSON.decode(BatchView.self, from: body, document: "batch")
    }

    /// Ends everything that was started.
    func stop() async {
        await agents.stop()
        _ = await coordinator.end(grace: .seconds(5))
        for server in servers { await server.stop() }
    }
}
