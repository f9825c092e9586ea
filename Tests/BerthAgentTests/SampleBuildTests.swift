import BerthArchive
import BerthCore
import BerthSystem
import Foundation
import Testing

/// A real agent behind a real `attach`, the simulated device, and the sample apps.
@Suite(.timeLimit(.minutes(5))) struct SampleBuildTests {
    @Test("G1, G2, D2, E1: the correct build passes, with complete evidence, and its device is deleted")
    func correct() async throws {
        try await AgentHost.run { host in
            try await host.serve()
            let coordinator = try await host.attach()
            let hello = try await coordinator.agentHello()
            #expect(hello.slot == "sim-1")
            #expect(hello.device.platform == .linuxSimulated)
            #expect(hello.device.os == TestAssignment.os)
            #expect(hello.highestEpoch == 0)

            let builds = [
                try await TestBuild.sample("legacy", version: "1.0", in: host.bundles),
                try await TestBuild.sample("correct", version: "2.0", in: host.bundles),
            ]
            try await coordinator.upload(builds)
            let assignment = try TestAssignment.make("a-1", epoch: 7, case: BuiltInCases.restart, builds: builds)
            try coordinator.send(.assign(assignment), to: "sim-1")
            let report = try await coordinator.report(of: "a-1")

            #expect(report.outcome == .passed, "\(report)")
            #expect(report.checks.map(\.state) == [.held, .held, .held])
            #expect(report.preservedDevice == nil)
            let paths = Set(report.files.map(\.path))
            for path in [
                "steps.json", "device.json", "status/1-seed.json", "status/2-verify.json", "status/3-verify.json",
                "status/4-cleanup.json", "app/1.stdout", "app/1.stderr", "entitlements/old.plist",
                "entitlements/new.plist", "entitlements/comparison.json",
            ] {
                #expect(paths.contains(path), "\(path) is missing from the evidence")
            }
            for verb in ["clone", "bootstatus", "install", "launch", "terminate"] {
                #expect(paths.contains { $0.hasPrefix("tools/") && $0.hasSuffix("-\(verb).txt") })
            }
            // Everything that the report names came before it, whole.
            for (digest, bytes) in coordinator.evidence { #expect(Digest.sha256(of: bytes) == digest) }
            #expect(Set(coordinator.evidence.keys).isSuperset(of: report.files.map(\.digest) + [report.evidence]))
            #expect(try await !host.simctl(["list", "-j"]).contains("berth-attempt-a-1"))
        }
    }

    @Test("G1, E2: a build that looks under another name fails, and its device is kept")
    func renamedQuery() async throws {
        try await AgentHost.run { host in
            try await host.serve()
            let coordinator = try await host.attach()
            let builds = [
                try await TestBuild.sample("legacy", version: "1.0", in: host.bundles),
                try await TestBuild.sample("renamed-query", version: "2.0", in: host.bundles),
            ]
            try await coordinator.upload(builds)
            try coordinator.send(.assign(try TestAssignment.make("a-1", builds: builds)), to: "sim-1")
            let report = try await coordinator.report(of: "a-1")
            #expect(report.outcome == .failed, "\(report)")
            #expect(report.checks.first { $0.id == .readable }?.state == .broken)
            #expect(report.checks.first { $0.id == .secretsStay }?.state == .held)
            let udid = try #require(report.preservedDevice)
            let list = try await host.simctl(["list", "-j"])
            #expect(list.contains(udid) && list.contains("berth-attempt-a-1"))
        }
    }
}
