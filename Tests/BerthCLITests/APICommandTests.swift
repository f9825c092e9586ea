import BerthCore
import BerthTestSupport
import Foundation
import Synchronization
import Testing

@testable import berth

@Suite("Commands over the API", .timeLimit(.minutes(5)))
struct APICommandTests {
    private func address(_ peer: HTTPPeer) -> [String: String] { ["BERTH_COORDINATOR": peer.address] }

    @Test(
        "Each refusal of the API has its exit status",
        arguments: [
            (401, ExitCode.unauthorized), (403, .unauthorized), (404, .badInput), (409, .badInput), (422, .badInput),
            (413, .badInput), (429, .refusedForNow), (503, .refusedForNow), (507, .refusedForNow), (500, .failure),
        ]
    )
    func refusal(status: Int, expected: ExitCode) async throws {
        let peer = try HTTPPeer { _ in try Sample.refusal(status, "some-code") }
        let cli = CLIFixture()
        #expect(await cli.run("run", "show", "r-1", environment: address(peer)) == expected)
        #expect(cli.errorOutput.contains("the reason for some-code [some-code]"))
        let stranger = try HTTPPeer { _ in HTTPPeer.Response(body: Array("<html>".utf8)) }
        #expect(await cli.run("run", "list", environment: address(stranger)) == .failure)
        #expect(cli.errorOutput.contains("the answer to /v1/batches is malformed"))
    }

    @Test("submit --watch sends what was asked and follows the batch over a restart of the coordinator to its end")
    func submitAndWatch() async throws {
        let looks = Mutex(0)
        let peer = try HTTPPeer { request in
            if request.method == "POST" {
                return try Sample.answer(Sample.batch(Sample.run("r-1", .queued)), status: 201)
            }
            let running = Sample.attempt(.running, progress: "step 2 of 4: launch seed")
            switch looks.withLock({
                $0 += 1; return $0
            }) {
            case 1, 2: return try Sample.answer(Sample.batch(Sample.run("r-1", .queued), Sample.run("r-2", .queued)))
            case 3: return try Sample.refusal(503, "starting")
            case 4:
                let runs = Sample.batch(Sample.run("r-1", .running, attempts: [running]), Sample.run("r-2", .queued))
                return try Sample.answer(runs)
            default:
                let ended = Sample.attempt(.ended, .passed)
                let failed = Sample.run("r-2", .finished, .failed)
                return try Sample.answer(Sample.batch(Sample.run("r-1", .finished, .passed, attempts: [ended]), failed))
            }
        }
        let cli = CLIFixture()
        let status = await cli.run(
            "submit",
            "--old",
            "legacy",
            "--new",
            "correct",
            "renamed",
            "--case",
            "update",
            "--idempotency-key",
            "k-1",
            "--watch",
            environment: address(peer)
        )
        #expect(status == .success, "\(cli.errorOutput)")
        let posted = try #require(peer.requests.first)
        #expect(posted.path == "/v1/batches")
        #expect(posted.headers["idempotency-key"] == "k-1")
        let request = try CanonicalJSON.decode(BatchRequest.self, from: posted.body, document: "request")
        #expect(request.new == ["correct", "renamed"] && request.os == "latest" && request.repeats == 1)
        #expect(
            cli.output.split(separator: "\n") == [
                "r-1 update legacy → correct 18.0 queued", "r-2 update legacy → correct 18.0 queued",
                "r-1 update legacy → correct 18.0 running attempt a-1 on sim-1 [step 2 of 4: launch seed]",
                "r-1 update legacy → correct 18.0 finished passed attempt a-1 on sim-1 passed",
                "r-2 update legacy → correct 18.0 finished failed",
                "batch b-1, 2 of 2 runs finished: 1 passed, 1 failed",
            ]
        )
        #expect(cli.errorOutput.contains("the reason for starting [starting]; trying again"))

        let live = CLIFixture(terminal: Console.Size(columns: 100, rows: 20))
        #expect(await live.run("watch", "b-1", environment: address(peer)) == .success)
        #expect(live.output.contains("\u{1B}[J") && live.output.contains("RUN  CASE"))
    }

    @Test("A host is enrolled only with a key that was given or confirmed")
    func hostKey() async throws {
        let peer = try HTTPPeer { request in
            if request.path == "/v1/host-keys" {
                return try Sample.answer(HostKeyView(hostKey: "ssh-ed25519 AAAAshown", fingerprint: "SHA256:abc"))
            }
            let host = try CanonicalJSON.decode(HostRecord.self, from: request.body, document: "host")
            let view = HostView(
                host: host,
                fingerprint: "SHA256:abc",
                state: .connecting,
                problem: nil,
                clockSkew: nil,
                slots: []
            )
            return try Sample.answer(view, status: 201)
        }
        func add(_ cli: CLIFixture, _ more: String...) async -> ExitCode {
            let words = [
                "host", "add", "mac-1", "--address", "mac.example:2222", "--user", "berth", "--identity", "/k",
            ]
            return await Program(environment: address(peer), console: cli.console).run(words + more)
        }
        func enrolled() -> [String] {
            peer.requests.filter { $0.path == "/v1/hosts" }.map { String(decoding: $0.body, as: UTF8.self) }
        }
        #expect(await add(CLIFixture()) == .usage)
        let hesitant = CLIFixture(typing: ["y"])
        #expect(await add(hesitant) == .failure)
        #expect(hesitant.errorOutput.contains("mac.example port 2222 shows the key SHA256:abc"))
        #expect(enrolled().isEmpty)
        #expect(await add(CLIFixture(typing: ["yes"])) == .success)
        #expect(enrolled().last?.contains("ssh-ed25519 AAAAshown") == true)
        #expect(await add(CLIFixture(), "--host-key", "ssh-ed25519 AAAAgiven me@mac") == .success)
        #expect(enrolled().last?.contains("\"hostKey\":\"ssh-ed25519 AAAAgiven\"") == true)
    }

    @Test("ledger --verify follows the chain and refuses an altered entry and a wrong head")
    func ledger() async throws {
        let view = try Sample.ledger(3)
        let text = String(decoding: try CanonicalJSON.encode(view), as: UTF8.self)
        let altered = text.replacingOccurrences(of: "\"epoch\":2", with: "\"epoch\":9")
        let cut = LedgerView(head: view.head, entries: Array(view.entries.dropLast()))
        let documents = [text, altered, String(decoding: try CanonicalJSON.encode(cut), as: UTF8.self)]
        let looks = Mutex(0)
        let peer = try HTTPPeer { _ in
            let index = looks.withLock {
                $0 += 1; return $0 - 1
            }
            return HTTPPeer.Response(body: Array(documents[index].utf8))
        }
        let cli = CLIFixture()
        #expect(await cli.run("ledger", "simulator", "--verify", environment: address(peer)) == .success)
        #expect(cli.output.contains("Verified: simulator ledger, 3 entries, head \(view.head.head)"))
        #expect(await cli.run("ledger", "simulator", "--verify", environment: address(peer)) == .badInput)
        #expect(cli.errorOutput.contains("the ledger is broken at entry 2"))
        #expect(await cli.run("ledger", "simulator", "--verify", environment: address(peer)) == .badInput)
        #expect(cli.errorOutput.contains("2 entries"))
    }

    @Test(
        "gate sends the policy and answers by its exit status",
        arguments: [
            (Outcome.passed, "pass", ExitCode.success), (.failed, "blocked", .blocked),
            (.lost, "incomplete", .incomplete),
        ]
    )
    func gate(outcome: Outcome, verdict: String, expected: ExitCode) async throws {
        let folder = try TemporaryDirectory()
        let policy = GatePolicy(name: "demo", requirements: [.init(platform: .linuxSimulated, cases: ["update"])])
        let file = "\(folder.path)/policy.json"
        try Data(try CanonicalJSON.encode(policy)).write(to: URL(fileURLWithPath: file))
        let ledger = try Sample.ledger(1, outcome: outcome)
        let peer = try HTTPPeer { request in
            let asked = try CanonicalJSON.decode(GateRequest.self, from: request.body, document: "request")
            let report = GateEvaluation.evaluate(
                asked.policy ?? .standard,
                path: Sample.pins.path,
                buildNames: ["a", "b"],
                entries: ledger.entries,
                heads: [ledger.head]
            )
            return try Sample.answer(report)
        }
        let words = ["gate", "--old", "a", "--new", "b", "--policy", file]
        let cli = CLIFixture()
        let program = Program(environment: address(peer), console: cli.console)
        #expect(await program.run(words) == expected, "\(cli.errorOutput)")
        #expect(cli.output.hasPrefix("\(verdict): ") && cli.output.contains("under policy demo"))
        #expect(cli.output.contains("simulator ledger, 1 entries, head \(ledger.head.head)"))
        try Data("{\"format\":1,\"name\":\"x\",\"requirements\":[]}".utf8).write(to: URL(fileURLWithPath: file))
        #expect(await program.run(words) == .badInput)
        #expect(cli.errorOutput.contains("policy.json: gate policy is malformed at requirements"))
    }

    @Test("run show explains checks, sets the items of both builds side by side, and says what it cannot show")
    func runShow() async throws {
        func status(_ launch: Int, _ phase: String, items: String) -> String {
            """
            {"format":1,"phase":"\(phase)","launch":\(launch),"nonce":"ab","processIdentifier":1,
             "build":{"bundleIdentifier":"b","version":"1","number":"1"},"steps":[],"items":[\(items)],
             "result":"succeeded"}
            """
        }
        func item(_ role: String, _ read: String, _ code: Int, service: String, accessible: String) -> String {
            """
            {"role":"\(role)","read":"\(read)","status":\(code),"content":"unread","contract":{"itemClass":"genp",
             "service":"\(service)","account":"user-1","accessGroup":"EXAMPLE42.app","accessible":"\(accessible)"}}
            """
        }
        let seed = status(1, "seed", items: item("legacy", "found", 0, service: "old.service", accessible: "ak"))
        let verify = status(
            2,
            "verify",
            items: [
                item("legacy", "missing", -25300, service: "old.service", accessible: "ak"),
                item("target", "missing", -25300, service: "new.service", accessible: "ck"),
            ].joined(separator: ",")
        )
        let blobs = [
            Sample.digest(seed).hex: seed, Sample.digest(verify).hex: verify, Sample.digest("damaged").hex: "other",
        ]
        let files = [
            ("status/1-seed.json", seed), ("status/2-verify.json", verify), ("status/3-verify.json", "gone"),
            ("status/4-verify.json", "damaged"),
        ]
        .map {
            EvidenceFile(path: $0.0, size: 100, digest: Sample.digest($0.1))
        }
        let report = Sample.report(.failed, cause: OutcomeCause("not-readable", "the item is gone"), files: files)
        let attempt = Sample.attempt(.ended, .failed, report: report)
        let evidence = "/v1/evidence/\(report.evidence.hex)/"
        let peer = try HTTPPeer { request in
            if let hex = request.path.split(separator: "/").last, request.path.hasPrefix(evidence) {
                guard let blob = blobs[String(hex)] else { return try Sample.refusal(404, "unknown-blob") }
                return HTTPPeer.Response(body: Array(blob.utf8))
            }
            return try Sample.answer(Sample.run("r-1", .finished, .failed, attempts: [attempt]))
        }
        let cli = CLIFixture()
        #expect(await cli.run("run", "show", "r-1", environment: address(peer)) == .success)
        // Runs of blanks are the table's; what stands in a row is what counts.
        let rows = cli.output.split(separator: "\n").map { $0.split(separator: " ").joined(separator: " ") }
        for row in [
            "run r-1 failed: legacy (\(Sample.pins.path[0].short)) → correct (\(Sample.pins.path[1].short))",
            "G1 broken: data of the old build is readable by the new build", "850 ms launch seed ok",
            "device kept (E2): kept-1 on sim-1 of alpha", "open it: berth device open kept-1",
            "as read found, content unread -25300 errSecItemNotFound",
            "old item in the new build: -25300 errSecItemNotFound (item not found)",
            "≠ service old.service new.service", "account user-1 user-1",
            "≠ accessible ak (when unlocked) ck (after first unlock)",
            "cannot be shown: status/3-verify.json: the reason for unknown-blob",
        ] {
            #expect(rows.contains(row), "\(row)")
        }
        #expect(rows.joined(separator: " ").contains("status/4-verify.json: the coordinator's copy is damaged"))
    }
}
