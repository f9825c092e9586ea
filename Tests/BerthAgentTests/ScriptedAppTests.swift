import BerthAgent
import BerthArchive
import BerthCore
import BerthSystem
import Foundation
import Testing

/// What apps can do wrong, through the real agent: each ends with the outcome that its place in the attempt demands.
@Suite(.timeLimit(.minutes(5))) struct ScriptedAppTests {
    /// A way to go wrong and the end of the cause's code that it leads to.
    static let misdeeds = [
        ("exit", "crashed"), ("crash", "crashed"), ("hang", "hung"), ("malformed", "status-malformed"),
        ("foreign", "status-foreign"), ("huge", "status-oversized"), ("misnumbered", "status-foreign"),
        ("link", "status-malformed"), ("flood", "crashed"),
    ]

    @Test("before the seed is verified, a misdeed of the old build is the farm's error and decides nothing")
    func seed() async throws {
        try await AgentHost.run { host in
            try await host.serve(["--status-timeout", "5", "--preserved-limit", "20"])
            let coordinator = try await host.attach()
            _ = try await coordinator.agentHello()
            let new = try await TestBuild.scripted("{}", version: "2.0", in: host.bundles)
            for (index, (misdeed, code)) in Self.misdeeds.enumerated() {
                let old = try await TestBuild.scripted(
                    #"{"seed": "\#(misdeed)"}"#,
                    version: "1.\(index)",
                    in: host.bundles
                )
                let report = try await host.perform(coordinator, "a-\(index)", UInt64(index + 1), [old, new])
                #expect(report.outcome == .errored, "\(misdeed): \(report)")
                #expect(report.cause?.code == "seed-\(code)", "\(misdeed)")
                #expect(report.checks.first { $0.id == .readable }?.state == .undecided)
            }
        }
    }

    @Test("after the seed, a misdeed of the new build is a failure of the migration (G1)")
    func verify() async throws {
        try await AgentHost.run { host in
            try await host.serve(["--status-timeout", "5", "--preserved-limit", "20"])
            let coordinator = try await host.attach()
            _ = try await coordinator.agentHello()
            let old = try await TestBuild.scripted("{}", version: "1.0", in: host.bundles)
            for (index, (misdeed, code)) in Self.misdeeds.enumerated() {
                let new = try await TestBuild.scripted(
                    #"{"verify": "\#(misdeed)"}"#,
                    version: "2.\(index)",
                    in: host.bundles
                )
                let report = try await host.perform(coordinator, "a-\(index)", UInt64(index + 1), [old, new])
                #expect(report.outcome == .failed, "\(misdeed): \(report)")
                #expect(report.cause?.code == "verify-\(code)", "\(misdeed)")
                #expect(report.checks.first { $0.id == .readable }?.state == .broken)
                #expect(report.preservedDevice != nil)
            }
        }
    }

    @Test("a build without its executable: the old one is an error, the new one a failure")
    func missingExecutable() async throws {
        try await AgentHost.run { host in
            try await host.serve()
            let coordinator = try await host.attach()
            _ = try await coordinator.agentHello()
            func broken(_ version: String) async throws -> TestBuild {
                try await TestBuild.broken(version: version, in: host.bundles) { bundle in
                    try FileManager.default.removeItem(atPath: bundle + "/scripted-app")
                }
            }
            let good = try await TestBuild.scripted("{}", version: "1.0", in: host.bundles)
            let first = try await host.perform(coordinator, "a-1", 1, [try await broken("1.1"), good])
            #expect(first.outcome == .errored)
            #expect(first.cause?.code == "build-refused")
            let second = try await host.perform(coordinator, "a-2", 2, [good, try await broken("2.1")])
            #expect(second.outcome == .failed, "\(second)")
            #expect(second.checks.first { $0.id == .readable }?.state == .broken)
        }
    }

    @Test("a blob that was damaged in the cache is noticed at the installation and blames no build")
    func damagedCache() async throws {
        try await AgentHost.run { host in
            try await host.serve()
            let coordinator = try await host.attach()
            _ = try await coordinator.agentHello()
            let old = try await TestBuild.scripted("{}", version: "1.0", in: host.bundles)
            let new = try await TestBuild.scripted("{}", version: "2.0", in: host.bundles)
            try await coordinator.upload([old, new])
            let entry = try #require(new.manifest.entries.first { $0.path == "Info.plist" })
            let digest = try #require(entry.digest)
            let blob = try BlobDirectory(path: host.cache).path(of: digest)
            var bytes = try DurableFile.read(blob, limit: 1 << 20)
            bytes[10] ^= 1
            try DurableFile.replace(blob, with: bytes)
            let report = try await host.perform(coordinator, "a-1", 1, [old, new])
            #expect(report.outcome == .errored, "\(report)")
            #expect(report.cause?.code == "cache-damaged-blob")
            #expect(report.cause?.message.contains(digest.description) == true)
        }
    }

    @Test("D2: a leaked token breaks the check and is stored nowhere, neither in evidence nor in the report")
    func leak() async throws {
        try await AgentHost.run { host in
            try await host.serve()
            let coordinator = try await host.attach()
            _ = try await coordinator.agentHello()
            let canary = try #require(Canary(nonce: TestAssignment.nonce))
            let text = String(decoding: canary.bytes, as: UTF8.self)
            let behaviour = [
                "verify": "malformed", "output": "token: \(Data(canary.bytes).base64EncodedString())\n",
                "reason": "the token \(text) is wrong",
            ]
            let json = String(decoding: try JSONEncoder().encode(behaviour), as: UTF8.self)
            let builds = [
                try await TestBuild.scripted(json, version: "1.0", in: host.bundles),
                try await TestBuild.scripted(
                    json.replacingOccurrences(of: "malformed", with: "report"),
                    version: "2.0",
                    in: host.bundles
                ),
            ]
            let report = try await host.perform(coordinator, "a-1", 1, builds)
            #expect(report.outcome == .failed)
            let check = try #require(report.checks.first { $0.id == .secretsStay })
            #expect(check.state == .broken)
            for place in ["app/1.stdout", "app/2.stdout", "status/1-seed.json", "status/2-verify.json"] {
                #expect(check.reason?.contains(place) == true, "\(place): \(check.reason ?? "")")
            }
            for bytes in Array(coordinator.evidence.values) + [try CanonicalJSON.encode(report)] {
                #expect(CanarySearch.mask(bytes, canary).found.isEmpty)
            }
            #expect(CanarySearch.mask(Array(host.log.utf8), canary).found.isEmpty)
        }
    }

    @Test("with as many preserved devices as allowed the slot declines and names the remedy; a release helps")
    func preservedBudget() async throws {
        try await AgentHost.run { host in
            try await host.serve(["--preserved-limit", "1"])
            let coordinator = try await host.attach()
            _ = try await coordinator.agentHello()
            let builds = [
                try await TestBuild.scripted("{}", version: "1.0", in: host.bundles),
                try await TestBuild.scripted(#"{"verify": "exit"}"#, version: "2.0", in: host.bundles),
            ]
            let report = try await host.perform(coordinator, "a-1", 1, builds)
            let udid = try #require(report.preservedDevice)
            try coordinator.send(.assign(try TestAssignment.make("a-2", epoch: 2, builds: builds)), to: "sim-1")
            let declination = try await coordinator.declination(of: "a-2")
            #expect(declination.cause.code == "preserved-budget-full")
            #expect(declination.cause.message.contains("release"))
            #expect(declination.cause.message.contains(udid))
            _ = try await host.simctl(["delete", udid])
            #expect(try await host.perform(coordinator, "a-3", 3, builds).outcome == .failed)
        }
    }
}
