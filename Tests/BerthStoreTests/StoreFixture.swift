import BerthCore
import BerthStore
import BerthSystem
import BerthTestSupport
import Foundation
import SQLiteDatabase
import Testing

/// Which database a test's store is in. Every behaviour of the store is tested on both.
enum StoreKind: String, CaseIterable, CustomTestStringConvertible {
    case sqlite = "SQLite"
    case postgres = "PostgreSQL"

    var testDescription: String { rawValue }
}

/// A store of its own, with two builds, the built-in cases and two hosts.
struct StoreFixture {
    static let os = OSPin(version: "18.0", build: "22A1")
    let kind: StoreKind
    let folder: TemporaryDirectory
    /// The connection string; empty for SQLite.
    let conninfo: String
    /// With which all agents of the fixture sign.
    let key: SigningKey
    let store: Store
    let old = digest("old")
    let new = digest("new")

    var path: String { "\(folder.path)/store.sqlite" }

    init(_ kind: StoreKind = .sqlite, sizeLimit: Int64? = nil, conninfo given: String? = nil) async throws {
        self.kind = kind
        folder = try TemporaryDirectory()
        key = try SigningKey.make()
        switch kind {
        case .sqlite:
            conninfo = ""
            store = try await Store.open(path: "\(folder.path)/store.sqlite", sizeLimit: sizeLimit)
        case .postgres:
            if let given {
                conninfo = given
            } else {
                conninfo = try await TestPostgresServer.started().makeDatabase()
            }
            store = try await Store.open(postgres: conninfo)
        }
        for (name, id) in [("old", old), ("new", new)] {
            _ = try await store.addBuild(id, Self.description(name), size: 1, now: 1)
        }
        for definition in BuiltInCases.all {
            let bytes = try CanonicalJSON.encode(definition)
            try await store.addCase(definition, digest: Digest(bytes: SHA256.digest(of: bytes)), now: 1)
        }
        for name in ["alpha", "beta"] {
            try await store.addHost(
                HostRecord(
                    name: name,
                    hostName: "\(name).example",
                    port: 22,
                    user: "berth",
                    identityFile: "/keys/\(name)",
                    hostKey: "ssh-ed25519 AAAA"
                ),
                now: 1
            )
        }
    }

    /// Another opening of the same database.
    func reopen() async throws -> Store {
        switch kind {
        case .sqlite: try await Store.open(path: path)
        case .postgres: try await Store.open(postgres: conninfo)
        }
    }

    /// Runs a statement past the store, as somebody with the database's tools could.
    /// - Throws: what the database answers when it refuses.
    func runDirectly(_ sql: String) async throws {
        switch kind {
        case .sqlite: try DatabaseConnection(path: path).executeScript(sql)
        case .postgres: try await TestPostgresServer.started().sql(sql, conninfo)
        }
    }

    /// What the server answers to a question about this database, which is in PostgreSQL.
    func statistics(_ sql: String) async throws -> String {
        try await TestPostgresServer.started().sql(sql, conninfo).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    static func digest(_ text: String) -> Digest { Digest(bytes: SHA256.digest(of: Array(text.utf8))) }

    static func description(_ name: String) -> BuildDescription {
        BuildDescription(
            name: name,
            bundleIdentifier: "com.example.product",
            version: "1.0",
            number: "1",
            platform: .linuxSimulated,
            minimumOS: nil,
            executable: name
        )
    }

    /// An agent reports its slot.
    func addSlot(
        _ slot: String,
        host: String = "alpha",
        device: String? = nil,
        os: OSPin = Self.os,
        epoch: UInt64 = 0
    ) async throws {
        let facts = DeviceFacts(identity: device ?? "device-\(slot)", platform: .linuxSimulated, model: "Phone", os: os)
        let hello = AgentHello(
            slot: slot,
            agentVersion: "0.1.0",
            device: facts,
            key: Hex.encode(key.publicBytes),
            highestEpoch: epoch,
            features: [],
            tools: ["simctl": "1"],
            running: nil,
            unacknowledged: []
        )
        try await store.recordSlot(hello, host: host, now: 2)
    }

    func operation(
        key: String? = nil,
        cases: [String] = ["update"],
        repeats: Int = 1,
        priority: Int = 0
    ) async throws -> SubmitOp {
        var pinned: [(name: String, digest: Digest)] = []
        for name in cases { pinned.append((name, try await store.latestCase(named: name).digest)) }
        return SubmitOp(
            submitter: "ci",
            idempotencyKey: key,
            paths: [[old, new]],
            cases: pinned,
            os: Self.os,
            platform: .linuxSimulated,
            repeats: repeats,
            priority: priority,
            now: 3
        )
    }

    func submit(cases: [String] = ["update"], repeats: Int = 1, priority: Int = 0) async throws -> BatchView {
        try await store.submit(operation(cases: cases, repeats: repeats, priority: priority)).batch
    }

    /// The next assignment of a slot, accepted; `nil` if there is none.
    func start(_ slot: String) async throws -> Assignment? {
        let nonce = Hex.encode(RandomBytes.make(16))
        guard let assignment = try await store.claim(slot: slot, now: 4, nonce: nonce, timeout: 60_000) else {
            return nil
        }
        _ = try await store.accept(attempt: assignment.attempt, epoch: assignment.epoch, now: 5)
        return assignment
    }

    /// Files a result as the host's agent would send it.
    @discardableResult
    func end(
        _ assignment: Assignment,
        _ outcome: Outcome,
        cause: String = "why",
        host: String = "alpha",
        os: OSPin = Self.os,
        signedBy signer: SigningKey? = nil,
        in other: Store? = nil
    ) async throws -> Acknowledgement.Filing {
        let unsigned = AttemptReport(
            run: assignment.run,
            attempt: assignment.attempt,
            epoch: assignment.epoch,
            outcome: outcome,
            cause: outcome == .passed ? nil : OutcomeCause(cause, "because"),
            checks: [CheckResult(id: .readable, state: outcome == .passed ? .held : .undecided)],
            steps: [],
            device: DeviceFacts(identity: "device", platform: .linuxSimulated, model: "Phone", os: os),
            agentVersion: "0.1.0",
            tools: [:],
            startedAt: 5,
            endedAt: 6,
            evidence: Self.digest(assignment.attempt),
            files: [],
            preservedDevice: nil
        )
        let signer = signer ?? key
        let signature = try signer.sign(try CanonicalJSON.encode(AttemptStatement(unsigned)))
        let report = unsigned.with(
            AgentSignature(key: Hex.encode(signer.publicBytes), signature: Hex.encode(signature))
        )
        let bytes = try CanonicalJSON.encode(report)
        return try await (other ?? store).record(report, bytes: bytes, host: host, now: 7)
    }

    /// The simulator ledger's head, after the whole chain was followed.
    func verifiedHead() async throws -> LedgerHead {
        let bytes = try await store.ledgerBytes(.simulator)
        return try LedgerChain.verify(
            bytes,
            of: .simulator,
            digest: { Digest(bytes: SHA256.digest(of: $0)) },
            isSigned: { signature, statement in
                SigningKey.isValid(
                    Hex.decode(signature.signature) ?? [],
                    of: statement,
                    publicBytes: Hex.decode(signature.key) ?? []
                )
            }
        )
    }
}
