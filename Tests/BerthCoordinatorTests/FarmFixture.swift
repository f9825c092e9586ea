import BerthArchive
import BerthCoordinator
import BerthCore
import BerthStore
import BerthSystem
import BerthTestSupport
import Testing

/// A farm with one stand-in host, and two builds that can be submitted.
struct FarmFixture {
    let store: Store
    let farm: Farm
    let host: StandInHost
    let builds: [Digest]
    /// The archive's folder.
    let archive: String

    func submit(runs: Int) async throws -> BatchView {
        let definition = try await store.latestCase(named: "update")
        return try await store.submit(
            SubmitOp(
                submitter: "test",
                idempotencyKey: nil,
                paths: [builds],
                cases: [("update", definition.digest)],
                os: OSPin(version: "18.0", build: "x"),
                platform: .linuxSimulated,
                repeats: runs,
                priority: 0,
                now: 1
            )
        ).batch
    }

    func assignment(to slot: String, number: Int = 1) async throws -> Assignment {
        try await eventually("assignment \(number) reaches \(slot)") { host.assignments(to: slot).count >= number }
        return host.assignments(to: slot)[number - 1]
    }

    func report(_ assignment: Assignment, _ outcome: Outcome = .passed, evidence: Digest, saying words: String? = nil)
        throws -> AttemptReport
    {
        try host.signed(
            AttemptReport(
                run: assignment.run,
                attempt: assignment.attempt,
                epoch: assignment.epoch,
                outcome: outcome,
                cause: words.map { OutcomeCause("words", $0) },
                checks: [CheckResult(id: .readable, state: .held)],
                steps: [],
                device: DeviceFacts(
                    identity: "device-a",
                    platform: .linuxSimulated,
                    model: "m",
                    os: OSPin(version: "18.0", build: "x")
                ),
                agentVersion: "t",
                tools: [:],
                startedAt: 1,
                endedAt: 2,
                evidence: evidence,
                files: [],
                preservedDevice: nil
            )
        )
    }

    private struct EndedByItself: Error, CustomStringConvertible {
        var description: String { "the farm ended before the test did" }
    }

    /// Runs a farm with one stand-in host, or two.
    static func with(
        lease: Duration = .seconds(10),
        host: StandInHost = StandInHost(),
        second: StandInHost? = nil,
        postgres: String? = nil,
        _ body: @escaping @Sendable (FarmFixture) async throws -> Void
    ) async throws {
        let folder = try TemporaryDirectory()
        let blobs = try BlobDirectory(path: "\(folder.path)/archive")
        let program = try blobs.insert([UInt8](repeating: 3, count: 300_000))
        var builds: [Digest] = []
        let store =
            if let postgres {
                try await Store.open(postgres: postgres, coordinator: "test")
            } else {
                try await Store.open(path: "\(folder.path)/store.sqlite")
            }
        for name in ["old", "new"] {
            let manifest = BuildManifest(
                name: "\(name).app",
                entries: [.file("program", size: 300_000, executable: true, digest: program)]
            )
            let id = try blobs.insert(try CanonicalJSON.encode(manifest))
            builds.append(id)
            let description = BuildDescription(
                name: name,
                bundleIdentifier: "com.example.product",
                version: "1",
                number: "1",
                platform: .linuxSimulated,
                minimumOS: nil,
                executable: "program"
            )
            _ = try await store.addBuild(id, description, size: 300_000, now: 1)
        }
        let update = BuiltInCases.update
        try await store.addCase(update, digest: .sha256(of: try CanonicalJSON.encode(update)), now: 1)
        try await store.addHost(StandInHost.record, now: 1)
        if second != nil { try await store.addHost(StandInHost.secondRecord, now: 1) }
        let farm = Farm(
            name: "test",
            store: store,
            archive: try CoordinatorArchive(path: "\(folder.path)/archive"),
            leases: LeasePolicy(length: lease, heartbeat: .milliseconds(50)),
            open: { endpoint in
                let isSecond = endpoint.name == StandInHost.secondRecord.name
                return try await (isSecond ? second ?? host : host).opener(endpoint)
            }
        )
        let fixture = FarmFixture(
            store: store,
            farm: farm,
            host: host,
            builds: builds,
            archive: "\(folder.path)/archive"
        )
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await farm.run(url: "http://test.example:8750")
                // Else the body would be called off, and the test would pass without having run.
                if !Task.isCancelled { throw EndedByItself() }
            }
            group.addTask { try await body(fixture) }
            try await group.next()
            group.cancelAll()
        }
        await store.close()
    }
}
