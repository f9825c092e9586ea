import BerthCore
import BerthSystem
import Synchronization

@testable import berth

/// Runs the program with its output caught.
final class CLIFixture: Sendable {
    private let written = Mutex("")
    private let complaints = Mutex("")
    private let typed: Mutex<[String]>
    let terminal: Console.Size?

    init(typing lines: [String] = [], terminal: Console.Size? = nil) {
        typed = Mutex(lines)
        self.terminal = terminal
    }

    var output: String { written.withLock { $0 } }
    var errorOutput: String { complaints.withLock { $0 } }

    var console: Console {
        Console(
            write: { text in self.written.withLock { $0 += text } },
            writeError: { text in self.complaints.withLock { $0 += text } },
            readLine: { self.typed.withLock { $0.isEmpty ? nil : $0.removeFirst() } },
            terminal: { self.terminal }
        )
    }

    func run(_ words: String..., environment: [String: String] = [:]) async -> ExitCode {
        let program = Program(environment: environment, console: console, pollInterval: .milliseconds(1))
        return await program.run(words)
    }
}

/// Documents for the peer to answer with.
enum Sample {
    static func digest(_ text: String) -> Digest { Digest(bytes: SHA256.digest(of: Array(text.utf8))) }

    static func answer(_ value: some Encodable, status: Int = 200) throws -> HTTPPeer.Response {
        HTTPPeer.Response(status: status, body: try CanonicalJSON.encode(value))
    }

    static func refusal(_ status: Int, _ code: String) throws -> HTTPPeer.Response {
        try answer(ErrorBody(code: code, message: "the reason for \(code)"), status: status)
    }

    static let pins = Pins(
        path: [digest("old"), digest("new")],
        caseName: "update",
        caseDigest: digest("case"),
        os: OSPin(version: "18.0", build: "22A1"),
        platform: .linuxSimulated
    )

    static let device = DeviceFacts(identity: "d-1", platform: .linuxSimulated, model: "Phone", os: pins.os)

    static func build(_ name: String, id: Digest) -> BuildRecord {
        let description = BuildDescription(
            name: name,
            bundleIdentifier: "com.example.product",
            version: "2.0",
            number: "20",
            platform: .linuxSimulated,
            minimumOS: nil,
            executable: name
        )
        return BuildRecord(id: id, description: description, size: 10, archivedAt: 1_790_000_000_000)
    }

    static func run(
        _ id: String,
        _ state: RunState,
        _ verdict: RunVerdict? = nil,
        attempts: [AttemptView] = []
    ) -> RunView {
        RunView(
            id: id,
            batch: "b-1",
            pins: pins,
            buildNames: ["legacy", "correct"],
            state: state,
            verdict: verdict,
            attempts: attempts,
            submittedAt: 1_790_000_000_000,
            finishedAt: verdict == nil ? nil : 1_790_000_009_000
        )
    }

    static func batch(_ runs: RunView...) -> BatchView {
        BatchView(id: "b-1", submitter: "ci", submittedAt: 1_790_000_000_000, runs: runs)
    }

    static func attempt(
        _ state: AttemptState,
        _ outcome: Outcome? = nil,
        progress: String? = nil,
        report: AttemptReport? = nil
    ) -> AttemptView {
        AttemptView(
            id: "a-1",
            slot: "sim-1",
            host: "alpha",
            epoch: 4,
            state: state,
            outcome: outcome,
            cause: report?.cause,
            checks: report?.checks ?? [],
            progress: progress,
            assignedAt: 1_790_000_001_000,
            endedAt: outcome == nil ? nil : 1_790_000_008_000,
            report: report
        )
    }

    static func report(_ outcome: Outcome, cause: OutcomeCause?, files: [EvidenceFile]) -> AttemptReport {
        AttemptReport(
            run: "r-1",
            attempt: "a-1",
            epoch: 4,
            outcome: outcome,
            cause: cause,
            checks: [CheckResult(id: .readable, state: .broken, reason: "the new build found no item")],
            steps: [
                .init(title: "install old", started: 0, duration: 850),
                .init(title: "launch seed", started: 850, duration: 61_000),
            ],
            device: device,
            agentVersion: "0.1.0",
            tools: [:],
            startedAt: 1_790_000_001_000,
            endedAt: 1_790_000_008_000,
            evidence: digest("evidence"),
            files: files,
            preservedDevice: "kept-1"
        )
    }

    /// A chained ledger of attempts that all ended the same way.
    static func ledger(_ count: Int, outcome: Outcome = .passed) throws -> LedgerView {
        let key = try SigningKey.make()
        var previous = LedgerEntry.beginning
        let entries = try (1...count).map { index in
            let statement = try CanonicalJSON.encode(AttemptStatement(entry(index, previous, outcome)))
            let signature = AgentSignature(
                key: Hex.encode(key.publicBytes),
                signature: Hex.encode(try key.sign(statement))
            )
            let entry = entry(index, previous, outcome, signature)
            previous = Digest(bytes: SHA256.digest(of: try CanonicalJSON.encode(entry)))
            return entry
        }
        return LedgerView(head: LedgerHead(ledger: .simulator, length: Int64(count), head: previous), entries: entries)
    }

    private static func entry(
        _ index: Int,
        _ previous: Digest,
        _ outcome: Outcome,
        _ signature: AgentSignature? = nil
    ) -> LedgerEntry {
        LedgerEntry(
            ledger: .simulator,
            sequence: Int64(index),
            previous: previous,
            recordedAt: 1_790_000_000_000,
            batch: "b-1",
            run: "r-\(index)",
            attempt: "a-\(index)",
            epoch: UInt64(index),
            pins: pins,
            slot: "sim-1",
            host: "alpha",
            device: device,
            agentVersion: "0.1.0",
            tools: [:],
            outcome: outcome,
            cause: nil,
            checks: [],
            evidence: nil,
            signature: signature,
            deciding: outcome.decides
        )
    }
}
