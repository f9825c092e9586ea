import BerthCore
import BerthStore
import BerthSystem

/// A store with builds, a case, hosts and slots, ready for runs.
struct StoreStage: Sendable {
    static let os = OSPin(version: "18.0", build: "22A1")
    /// Runs that come back prefer another host than their last, so there are several.
    private static let hosts = (1...8).map { "host-\($0)" }
    private static let definition = BuiltInCases.update

    let store: Store
    let slots: [String]
    /// With which all agents sign.
    private let key: SigningKey

    init(_ store: Store, slots count: Int) async throws {
        self.store = store
        key = try SigningKey.make()
        for name in ["old", "new"] {
            let description = BuildDescription(
                name: name,
                bundleIdentifier: "com.example.product",
                version: "1.0",
                number: "1",
                platform: .linuxSimulated,
                minimumOS: nil,
                executable: name
            )
            _ = try await store.addBuild(Self.digest(name), description, size: 1, now: 1)
        }
        try await store.addCase(Self.definition, digest: try Self.caseDigest, now: 1)
        for name in Self.hosts {
            let record = HostRecord(
                name: name,
                hostName: "\(name).example",
                port: 22,
                user: "berth",
                identityFile: "/keys/\(name)",
                hostKey: "ssh-ed25519 AAAA"
            )
            try await store.addHost(record, now: 1)
        }
        slots = (1...count).map { "slot-\($0)" }
        for (index, slot) in slots.enumerated() {
            let hello = AgentHello(
                slot: slot,
                agentVersion: BerthVersion.text,
                device: Self.facts(slot),
                key: Hex.encode(key.publicBytes),
                highestEpoch: 0,
                features: [],
                tools: ["simctl": "1"],
                running: nil,
                unacknowledged: []
            )
            try await store.recordSlot(hello, host: Self.hosts[index % Self.hosts.count], now: 2)
        }
    }

    private static func digest(_ text: String) -> Digest { Digest(bytes: SHA256.digest(of: Array(text.utf8))) }

    private static var caseDigest: Digest {
        get throws { Digest(bytes: SHA256.digest(of: try CanonicalJSON.encode(definition))) }
    }

    private static func facts(_ slot: String) -> DeviceFacts {
        DeviceFacts(identity: "device-\(slot)", platform: .linuxSimulated, model: "Phone", os: os)
    }

    /// The host of the slot at a place.
    func host(ofSlot index: Int) -> String { Self.hosts[index % Self.hosts.count] }

    /// Queues runs, in batches as large as they may be.
    func queue(_ count: Int) async throws {
        var left = count
        while left > 0 {
            let repeats = min(left, Store.batchLimit)
            left -= repeats
            let operation = SubmitOp(
                submitter: "bench",
                idempotencyKey: nil,
                paths: [[Self.digest("old"), Self.digest("new")]],
                cases: [(name: Self.definition.name, digest: try Self.caseDigest)],
                os: Self.os,
                platform: .linuxSimulated,
                repeats: repeats,
                priority: 0,
                now: 3
            )
            _ = try await store.submit(operation)
        }
    }

    func claim(slot: String) async throws -> Assignment {
        let nonce = Hex.encode(RandomBytes.make(16))
        guard let assignment = try await store.claim(slot: slot, now: 4, nonce: nonce, timeout: 60_000) else {
            throw BenchFailure("no run waits for \(slot)")
        }
        return assignment
    }

    /// A report as a slot's agent signs it.
    func report(of assignment: Assignment, slot: String) throws -> (report: AttemptReport, bytes: [UInt8]) {
        let unsigned = AttemptReport(
            run: assignment.run,
            attempt: assignment.attempt,
            epoch: assignment.epoch,
            outcome: .passed,
            cause: nil,
            checks: Self.definition.checks.map { CheckResult(id: $0, state: .held) },
            steps: Self.definition.steps.enumerated().map { index, step in
                AttemptReport.Step(title: step.title, started: Int64(index) * 100, duration: 100)
            },
            device: Self.facts(slot),
            agentVersion: BerthVersion.text,
            tools: ["simctl": "1"],
            startedAt: 5,
            endedAt: 6,
            evidence: Self.digest(assignment.attempt),
            files: [],
            preservedDevice: nil
        )
        let signature = try key.sign(try CanonicalJSON.encode(AttemptStatement(unsigned)))
        let report = unsigned.with(
            AgentSignature(key: Hex.encode(key.publicBytes), signature: Hex.encode(signature))
        )
        return (report, try CanonicalJSON.encode(report))
    }
}
