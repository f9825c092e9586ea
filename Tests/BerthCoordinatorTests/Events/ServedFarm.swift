import BerthArchive
import BerthCoordinator
import BerthCore
import BerthHosts
import BerthStore
import BerthSystem
import BerthTestSupport
import Synchronization

/// A farm with one stand-in host behind the real API on a loopback port.
final class ServedFarm: Sendable {
    static let token = "token-of-the-test"

    let folder: TemporaryDirectory
    let store: Store
    let farm: Farm
    let host: StandInHost
    let port: UInt16
    private let api: API
    private let server: Mutex<HTTPServer>

    /// Serves a farm while a body runs.
    static func run(
        policies: [GatePolicy] = [.standard],
        _ body: @escaping @Sendable (ServedFarm) async throws -> Void
    ) async throws {
        let folder = try TemporaryDirectory()
        let blobs = try BlobDirectory(path: "\(folder.path)/archive")
        let program = try blobs.insert([UInt8](repeating: 3, count: 300))
        let store = try await Store.open(path: "\(folder.path)/store.sqlite")
        for (name, number) in [("legacy", "1"), ("correct", "2"), ("renamed-query", "2")] {
            let manifest = BuildManifest(
                name: "\(name).app",
                entries: [.file("program", size: 300, executable: true, digest: program)]
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
            _ = try await store.addBuild(id, description, size: 300, now: 1)
        }
        for definition in BuiltInCases.all {
            try await store.addCase(definition, digest: .sha256(of: try CanonicalJSON.encode(definition)), now: 1)
        }
        try await store.addHost(StandInHost.record, now: 1)
        try await store.addToken(name: "test", hash: .sha256(of: Array(token.utf8)), role: "admin", now: 1)
        let archive = try CoordinatorArchive(path: "\(folder.path)/archive")
        let host = StandInHost()
        let farm = Farm(
            name: "test",
            store: store,
            archive: archive,
            leases: LeasePolicy(length: .seconds(60), heartbeat: .seconds(1)),
            open: host.opener
        )
        let api = API(farm: farm, store: store, archive: archive, ssh: SSHEventLoopGroup(count: 1), policies: policies)
        let served = try ServedFarm(folder, store, farm, host, api)
        let result: Result<Void, any Error>
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await farm.run() }
                group.addTask { try await body(served) }
                try await group.next()
                group.cancelAll()
            }
            result = .success(())
        } catch {
            result = .failure(error)
        }
        await served.stopServing()
        await store.close()
        try result.get()
    }

    private init(_ folder: TemporaryDirectory, _ store: Store, _ farm: Farm, _ host: StandInHost, _ api: API) throws {
        self.folder = folder
        self.store = store
        self.farm = farm
        self.host = host
        self.api = api
        let server = Self.server(of: api, port: 0)
        self.server = Mutex(server)
        port = try server.start()
    }

    private static func server(of api: API, port: UInt16) -> HTTPServer {
        HTTPServer(
            port: port,
            limits: HTTPLimits(maxBodyBytes: { API.bodyLimit(method: $0, path: $1) }, stopTimeout: .seconds(1)),
            admission: { await api.refusal(of: $0) },
            handler: { await api.handle($0) }
        )
    }

    /// Ends all connections and takes no new ones.
    func stopServing() async {
        await server.withLock { $0 }.stop()
    }

    /// Serves on the same port as before.
    func serveAgain() throws {
        let server = Self.server(of: api, port: port)
        _ = try server.start()
        self.server.withLock { $0 = server }
    }

    /// Submits one run a case over the API; gives the batch.
    @discardableResult
    func submit(_ cases: [String], new: String = "correct") async throws -> BatchView {
        let request = BatchRequest(
            old: "legacy",
            new: [new],
            cases: cases,
            platform: .linuxSimulated,
            os: "latest",
            repeats: 1,
            priority: 0
        )
        let answer = try await post("/v1/batches", request)
        return try CanonicalJSON.decode(BatchView.self, from: answer.body, document: "batch")
    }

    /// What the API answers to a document.
    func post(
        _ path: String,
        _ document: some Encodable,
        token: String = ServedFarm.token
    ) async throws -> RawClient.Answer {
        let body = try CanonicalJSON.encode(document)
        let client = try RawClient(port: port)
        try await client.send(
            "POST \(path) HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer \(token)\r\n"
                + "Content-Length: \(body.count)\r\n\r\n",
            body
        )
        return try await client.answer()
    }

    /// What the API answers to a `GET`.
    func get(_ path: String, token: String? = ServedFarm.token) async throws -> RawClient.Answer {
        let client = try RawClient(port: port)
        let authorization = token.map { "Authorization: Bearer \($0)\r\n" } ?? ""
        try await client.send("GET \(path) HTTP/1.1\r\nHost: h\r\n\(authorization)\r\n")
        return try await client.answer()
    }

    func value<Value: Decodable>(_ type: Value.Type, _ path: String) async throws -> Value {
        try CanonicalJSON.decode(type, from: try await get(path).body, document: path)
    }

    /// The attempt that a slot was given, once it has been.
    func assignment(to slot: String, number: Int = 1) async throws -> Assignment {
        try await eventually("assignment \(number) reaches \(slot)") { host.assignments(to: slot).count >= number }
        return host.assignments(to: slot)[number - 1]
    }

    func accept(_ assignment: Assignment, on slot: String) throws {
        try host.say(
            .accepted(AttemptReference(attempt: assignment.attempt, epoch: assignment.epoch)),
            route: slot
        )
    }

    func progress(_ assignment: Assignment, on slot: String, _ title: String, _ step: Int, of steps: Int) throws {
        try host.say(
            .progress(
                Progress(
                    attempt: assignment.attempt,
                    epoch: assignment.epoch,
                    step: step,
                    steps: steps,
                    title: title
                )
            ),
            route: slot
        )
    }

    /// Ends an attempt as its agent would.
    func end(_ assignment: Assignment, on slot: String, broken reason: String? = nil) throws {
        let report = AttemptReport(
            run: assignment.run,
            attempt: assignment.attempt,
            epoch: assignment.epoch,
            outcome: reason == nil ? .passed : .failed,
            cause: reason.map { OutcomeCause("check-broken", $0) },
            checks: [CheckResult(id: .readable, state: reason == nil ? .held : .broken, reason: reason)],
            steps: [],
            device: DeviceFacts(
                identity: "device-\(slot)",
                platform: .linuxSimulated,
                model: "m",
                os: OSPin(version: "18.0", build: "x")
            ),
            agentVersion: "t",
            tools: [:],
            startedAt: 1,
            endedAt: 2,
            evidence: .sha256(of: []),
            files: [],
            preservedDevice: nil
        )
        try host.say(.result(try host.signed(report)), route: slot)
    }
}
