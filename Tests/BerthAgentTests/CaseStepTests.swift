import BerthCore
import Foundation
import Testing

/// Steps of users' cases on a real agent and the simulated device.
@Suite(.serialized, .timeLimit(.minutes(8))) struct CaseStepTests {
    private static func kill(_ point: CaseLaunch.KillPoint) -> CaseStep {
        var launch = CaseLaunch(.verify)
        launch.killAt = point
        return .launch(launch)
    }

    /// The reports of attempts on one host, one after the other.
    private func perform(_ definitions: [CaseDefinition], new: String) async throws -> [AttemptReport] {
        var reports: [AttemptReport] = []
        try await AgentHost.run { host in
            try await host.serve()
            let coordinator = try await host.attach()
            let hello = try await coordinator.agentHello()
            #expect(hello.features == ["keychain-faults", "reboot"])
            let builds = [
                try await TestBuild.sample("legacy", version: "1.0", in: host.bundles),
                try await TestBuild.sample(new, version: "2.0", in: host.bundles),
            ]
            for (index, definition) in definitions.enumerated() {
                let epoch = UInt64(index + 1)
                reports.append(
                    try await host.perform(coordinator, "a-\(epoch)", epoch, builds, case: definition)
                )
            }
        }
        return reports
    }

    @Test("C2: a migration that dies at any of its points loses nothing, and the next start completes it")
    func interrupted() async throws {
        let points = CaseLaunch.KillPoint.allCases
        let definitions = points.map { point in
            CaseDefinition(
                name: "interrupted",
                version: 1,
                scenario: "",
                steps: [
                    .install(.old), .launch(.prepare(.init(bystanders: 2))), .launch(.seed), .install(.new),
                    Self.kill(point), .reboot, .launch(.verify(.originalKept, .readable, .bystandersUntouched)),
                    .launch(.verify(.repeatable)),
                ]
            )
        }
        for (point, report) in zip(points, try await perform(definitions, new: "correct")) {
            #expect(report.outcome == .passed, "\(point): \(String(describing: report.cause))")
            #expect(report.checks.allSatisfy { $0.state == .held })
            let files = Set(report.files.map(\.path))
            #expect(!files.contains("status/3-verify.json") && files.contains("status/4-verify.json"))
            let title = "launch verify and kill \(point.rawValue)"
            #expect(report.steps.contains { $0.title == title && $0.problem == nil })
        }
    }

    @Test("A build that never comes to the kill point proves nothing")
    func unreachedPoint() async throws {
        let definition = CaseDefinition(
            name: "unreached",
            version: 1,
            scenario: "",
            steps: [
                .install(.old), .launch(.seed), .install(.new), Self.kill(.afterAdd), .launch(.verify(.originalKept)),
            ]
        )
        let report = try #require(try await perform([definition], new: "renamed-query").first)
        #expect(report.outcome == .errored && report.cause?.code == "kill-point-not-reached", "\(report)")
    }

    @Test("A fault that no call meets proves nothing; one that is met is what the case says")
    func faults() async throws {
        func definition(_ fault: KeychainFault) -> CaseDefinition {
            CaseDefinition(
                name: "faults",
                version: 1,
                scenario: "",
                steps: [
                    .install(.old), .launch(.seed), .install(.new), .fault(fault), .launch(.verify(.originalKept)),
                ]
            )
        }
        let faults = [KeychainFault.Call.update, .delete].map { KeychainFault(call: $0, status: -25291) }
        let reports = try await perform(faults.map(definition), new: "correct")
        let idle = try #require(reports.first)
        #expect(idle.outcome == .errored && idle.cause?.code == "fault-not-met", "\(idle)")
        // Deletion of the old item is refused: both are there, and that is no loss.
        let met = try #require(reports.last)
        #expect(met.outcome == .passed, "\(String(describing: met.cause))")
    }

    @Test("The marker can be set, cleared and numbered, and items deleted, before a verification")
    func preparation() async throws {
        let definition = CaseDefinition(
            name: "prepared",
            version: 1,
            scenario: "",
            steps: [
                .install(.old), .launch(.seed), .install(.new),
                .launch(.prepare(.init(marker: .version(2)))), .launch(.verify(.dataSought)),
                .launch(.prepare(.init(marker: .cleared))), .launch(.verify(.repeatable)), .terminate,
                .launch(CaseLaunch(.census)),
            ]
        )
        let lost = CaseDefinition(
            name: "lost",
            version: 1,
            scenario: "",
            steps: [
                .install(.old), .launch(.seed), .install(.new), .launch(.verify(.readable)),
                .launch(.prepare(.init(deletesTarget: true))), .launch(.verify(.originalKept)),
            ]
        )
        let reports = try await perform([definition, lost], new: "correct")
        #expect(reports.first?.outcome == .passed, "\(String(describing: reports.first?.cause))")
        let gone = try #require(reports.last)
        #expect(gone.outcome == .failed && gone.cause?.code == "C2-broken", "\(String(describing: gone.cause))")
    }
}
