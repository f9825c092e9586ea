import BerthCore
import BerthSystem
import BerthTestSupport
import Foundation
import Testing

/// The whole way from two builds to a verdict, and what must not break it.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct UpgradePathTests {
    private func withFarm(slots: Int, leaseSeconds: Int = 15, _ body: (TestFarm) async throws -> Void) async throws {
        let farm = try await TestFarm.start(slots: slots, leaseSeconds: leaseSeconds)
        do {
            try await body(farm)
        } catch {
            await farm.stop()
            throw error
        }
        await farm.stop()
    }

    /// One entry an attempt, one deciding entry a run, and a whole chain.
    private func checkLedger(_ farm: TestFarm, runs: [RunView]) async throws {
        let ledger = try await farm.ledger()
        let ended = runs.flatMap(\.attempts).filter { $0.state == .ended }.map(\.id)
        #expect(ledger.entries.map(\.attempt).sorted() == ended.sorted())
        for run in runs {
            #expect(ledger.entries.filter { $0.run == run.id && $0.deciding }.count == 1, "run \(run.id)")
        }
        let bytes = try ledger.entries.map { try CanonicalJSON.encode($0) }
        let head = try LedgerChain.verify(bytes, of: .simulator) { Digest(bytes: SHA256.digest(of: $0)) }
        #expect(head == ledger.head)
    }

    @Test func theGateTellsTheCorrectBuildFromTheBroken() async throws {
        try await withFarm(slots: 2) { farm in
            let new = ["correct", "renamed-query", "claims-success"]
            let batch = try await farm.submit(new: new, cases: ["fresh-install", "update", "restart"])
            let runs = try await farm.waitUntilFinished(batch.id)
            #expect(runs.count == 9)
            for run in runs {
                let name = run.buildNames.last ?? ""
                let expected: RunVerdict = name == "correct" || run.pins.caseName == "fresh-install" ? .passed : .failed
                #expect(
                    run.verdict == expected,
                    "\(name) \(run.pins.caseName): \(String(describing: run.attempts.last?.cause))"
                )
            }
            try await checkLedger(farm, runs: runs)
            let policy = "\(farm.root)/policy.json"
            let cases = #"["fresh-install","update","restart"]"#
            try DurableFile.replace(
                policy,
                with: Array(
                    #"{"format":1,"name":"t","requirements":[{"platform":"linux-simulated","cases":\#(cases)}]}"#.utf8
                )
            )
            for name in new {
                let result = try await farm.tryBerth([
                    "gate", "--old", "legacy", "--new", name, "--policy", policy, "--json",
                ])
                let report = try CanonicalJSON.decode(GateReport.self, from: result.output, document: "gate")
                if name == "correct" {
                    #expect(result.termination == .exited(0) && report.verdict == .pass)
                } else {
                    #expect(result.termination == .exited(1) && report.verdict == .blocked)
                    let broken = report.findings.flatMap { finding in
                        finding.checks.filter { $0.state == .broken }.map { "\(finding.caseName) \($0.id)" }
                    }
                    #expect(broken == ["update G1", "restart G1"])
                }
            }
            // A simulated device on Linux never stands for what the standard policy asks.
            let standard = try await farm.tryBerth(["gate", "--old", "legacy", "--new", "correct"])
            #expect(standard.termination == .exited(2), "\(standard.outputText)")
            try await secretsStayInTheKeychain(farm, runs: runs)
        }
    }

    /// The canary of every attempt stands in keychain databases and nowhere else; the search itself is shown to work.
    private func secretsStayInTheKeychain(_ farm: TestFarm, runs: [RunView]) async throws {
        let journal = try nonces(farm)
        #expect(journal.count == runs.flatMap(\.attempts).count)
        let canaries = journal.map { Canary.text(nonce: $0) }
        #expect(try CanarySearch.files(with: canaries, under: farm.root).isEmpty)
        let planted = "\(farm.root)/coordinator/planted"
        for encoded in CanarySearch.encodings(of: try #require(canaries.first)) {
            try DurableFile.replace(planted, with: Array("noise ".utf8) + encoded + Array(" noise".utf8))
            #expect(try CanarySearch.files(with: canaries, under: farm.root) == [planted])
        }
        unlink(planted)
    }

    private func nonces(_ farm: TestFarm) throws -> Set<String> {
        var found: Set<String> = []
        for slot in try FileManager.default.contentsOfDirectory(atPath: "\(farm.root)/slots") {
            let text = String(
                decoding: try DurableFile.read("\(farm.root)/slots/\(slot)/journal", limit: 1 << 26),
                as: UTF8.self
            )
            for match in text.matches(of: /"nonce":"([0-9a-f]{32})"/) { found.insert(String(match.output.1)) }
        }
        return found
    }

    @Test func sshMayDieAtAnyTime() async throws {
        try await withFarm(slots: 2) { farm in
            let batch = try await farm.submit(new: ["correct"], cases: ["update", "restart"], repeats: 4)
            for _ in 0..<4 {
                try await eventually("a run is being executed") {
                    let runs = try await farm.runs(of: batch.id)
                    return runs.contains { $0.state == .running } || runs.allSatisfy { $0.state.successors.isEmpty }
                }
                for process in farm.ssh.connectionProcesses { kill(process, SIGKILL) }
            }
            await farm.ssh.killListener()
            try await eventually("the farm says that the host is gone") {
                try await farm.json([HostView].self, ["host", "list"]).contains {
                    $0.state == .failing && $0.problem != nil
                }
            }
            try await farm.ssh.start()
            let runs = try await farm.waitUntilFinished(batch.id)
            #expect(runs.allSatisfy { $0.verdict == .passed }, "\(runs.map(\.verdict))")
            try await checkLedger(farm, runs: runs)
        }
    }

    @Test func theCoordinatorMayDieInTheMiddleOfABatch() async throws {
        try await withFarm(slots: 2) { farm in
            let batch = try await farm.submit(
                new: ["correct", "renamed-query"],
                cases: ["update", "restart"],
                repeats: 3
            )
            for _ in 0..<3 {
                try await eventually("a run is being executed") {
                    let runs = try await farm.runs(of: batch.id)
                    return runs.contains { $0.state == .running } || runs.allSatisfy { $0.state.successors.isEmpty }
                }
                await farm.killCoordinator()
                try await farm.startCoordinator()
            }
            let runs = try await farm.waitUntilFinished(batch.id)
            #expect(runs.count == 12)
            // Adopted, not repeated: a coordinator's death costs no attempt.
            #expect(runs.allSatisfy { $0.attempts.count == 1 }, "\(runs.map(\.attempts.count))")
            try await checkLedger(farm, runs: runs)
        }
    }

    @Test func anAgentMayDieAndItsAttemptIsNotContinued() async throws {
        try await withFarm(slots: 1, leaseSeconds: 5) { farm in
            let batch = try await farm.submit(new: ["correct"], cases: ["restart"])
            try await eventually("the run is being executed") {
                try await farm.runs(of: batch.id).contains { $0.state == .running }
            }
            await farm.killAgent("sim-1")
            try await farm.startAgent("sim-1")
            let runs = try await farm.waitUntilFinished(batch.id)
            let attempts = try #require(runs.first?.attempts)
            #expect(attempts.count == 2)
            #expect(attempts.first?.outcome == .errored && attempts.first?.cause?.code == "agent-died", "\(attempts)")
            #expect(attempts.last?.outcome == .passed)
            try await checkLedger(farm, runs: runs)
        }
    }

    @Test func aChangedHostKeyIsRefusedByName() async throws {
        try await withFarm(slots: 1) { farm in
            let before = try farm.ssh.hostKeyLine
            await farm.ssh.stop()
            try await farm.ssh.replaceHostKey()
            try await farm.ssh.start()
            let pinned = try fingerprint(before)
            let shown = try fingerprint(farm.ssh.hostKeyLine)
            try await eventually("the problem names both keys") {
                let problem = try await farm.json([HostView].self, ["host", "list"]).first?.problem ?? ""
                return problem.contains(pinned) && problem.contains(shown)
            }
            let sinceRestart = try #require(farm.ssh.log.components(separatedBy: "Server listening").last)
            #expect(!sinceRestart.contains("Accepted") && !sinceRestart.contains("userauth-request"))
        }
    }

    private func fingerprint(_ line: String) throws -> String {
        let blob = try #require(Data(base64Encoded: String(line.split(separator: " ")[1])))
        let digest = Data(SHA256.digest(of: Array(blob))).base64EncodedString()
        return "SHA256:" + digest.replacingOccurrences(of: "=", with: "")
    }

    @Test func aSecondAgentForOneDeviceSaysWhoHoldsIt() async throws {
        try await withFarm(slots: 1) { farm in
            let result = try await CommandRunner.run(await farm.agentSpecification("sim-1"), timeout: .seconds(20))
            #expect(result.termination == .exited(73))
            #expect(result.errorText.contains("held by") && result.errorText.contains("sim-1"), "\(result.errorText)")
        }
    }

    @Test(arguments: [
        ("plain-folder", 65, ".app"), ("missing.app", 66, "missing.app"), ("damaged.app", 65, "Info.plist"),
        ("hollow.app", 65, "executable"), ("text.app", 65, "neither"),
    ])
    func whatIsNoBuildIsRefused(name: String, status: Int32, words: String) async throws {
        try await withFarm(slots: 1) { farm in
            let path = "\(farm.root)/bad/\(name)"
            if name != "missing.app" {
                try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
                let info = try Data(contentsOf: URL(fileURLWithPath: "\(farm.root)/builds/legacy.app/Info.plist"))
                let url = URL(fileURLWithPath: "\(path)/Info.plist")
                try (name == "damaged.app" ? Data("<plist".utf8) : info).write(to: url)
                if name == "text.app" {
                    try DurableFile.replace("\(path)/legacy", with: Array("#!/bin/sh\n".utf8), mode: 0o755)
                }
            }
            let result = try await farm.tryBerth(["build", "add", path])
            #expect(result.termination == .exited(status), "\(result.errorText)")
            #expect(result.errorText.contains(words), "\(result.errorText)")
            let builds = try await farm.json([BuildRecord].self, ["build", "list"])
            #expect(builds.count == 4)
        }
    }
}
