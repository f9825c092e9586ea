import BerthAgent
import BerthCore
import BerthSystem
import BerthTestSupport
import Foundation
import Testing

/// Locks, deaths, lost acknowledgements, leases: what keeps an attempt from being run or recorded twice.
@Suite(.timeLimit(.minutes(5))) struct AgentLifeTests {
    /// Builds of which the new one never writes its status file.
    private func hanging(_ host: AgentHost) async throws -> [TestBuild] {
        [
            try await TestBuild.scripted("{}", version: "1.0", in: host.bundles),
            try await TestBuild.scripted(#"{"verify": "hang"}"#, version: "2.0", in: host.bundles),
        ]
    }

    @Test("a second agent on the same device ends with status 73 and names the holder; the first goes on")
    func secondAgent() async throws {
        try await AgentHost.run { host in
            let first = try await host.serve()
            let second = try ChildProcess.spawn(
                ProcessSpecification(
                    executable: Products.path("berth-agent"),
                    arguments: [
                        "serve", "--slot", "other", "--state", host.state, "--sockets", host.sockets, "--cache",
                        host.cache, "--xcrun", host.root + "/tools/xcrun",
                    ],
                    environment: host.environment,
                    standardError: .file(host.root + "/second.log")
                )
            )
            #expect(await second.wait() == .exited(AgentFailure.Status.deviceHeld.rawValue))
            let log = try String(contentsOfFile: host.root + "/second.log", encoding: .utf8)
            #expect(log.contains("pid \(first.pid),") && log.contains("slot sim-1") && log.contains("since 20"))
            #expect(first.termination == nil)
            let coordinator = try await host.attach()
            #expect(try await coordinator.agentHello().slot == "sim-1")
        }
    }

    @Test("a bundle that somebody changed between two attempts is laid out anew: what is installed is what is pinned")
    func changedBundle() async throws {
        try await AgentHost.run { host in
            try await host.serve()
            let coordinator = try await host.attach()
            _ = try await coordinator.agentHello()
            let builds = [try await TestBuild.scripted("{}", version: "1.0", in: host.bundles)]
            func perform(_ attempt: String, _ epoch: UInt64) async throws {
                let report = try await host.perform(
                    coordinator,
                    attempt,
                    epoch,
                    builds,
                    case: BuiltInCases.freshInstall
                )
                #expect(report.outcome == .passed, "\(report)")
            }
            try await perform("a-1", 1)
            let kept = host.state + "/bundles"
            let build = try #require(try FileManager.default.contentsOfDirectory(atPath: kept).first)
            let bundle = try #require(try FileManager.default.contentsOfDirectory(atPath: "\(kept)/\(build)").first)
            let behaviour = "\(kept)/\(build)/\(bundle)/behaviour.json"
            let before = try Data(contentsOf: URL(fileURLWithPath: behaviour))
            // Laid out once: the file is the same one after a second attempt.
            let first = try FileManager.default.attributesOfItem(atPath: behaviour)[.systemFileNumber] as? Int
            try await perform("a-2", 2)
            #expect(try FileManager.default.attributesOfItem(atPath: behaviour)[.systemFileNumber] as? Int == first)
            try Data(#"{"seed": "crash", "verify": "crash"}"#.utf8).write(to: URL(fileURLWithPath: behaviour))
            try await perform("a-3", 3)
            #expect(try Data(contentsOf: URL(fileURLWithPath: behaviour)) == before)
        }
    }

    @Test("an agent killed in mid-attempt reports it as errored, once, and keeps its device until its place is needed")
    func killed() async throws {
        try await AgentHost.run { host in
            let agent = try await host.serve()
            let first = try await host.attach()
            let identity = try await first.agentHello().device.identity
            let builds = try await hanging(host)
            try await first.upload(builds)
            try first.send(.assign(try TestAssignment.make("a-1", epoch: 5, builds: builds)), to: "sim-1")
            try await first.progress(of: "a-1", to: "launch verify")
            kill(agent.pid, SIGKILL)
            _ = await agent.wait()
            _ = try await first.wait("the slot has left") { message -> Bool? in
                if case .slotLeft(let left) = message, left.slot == "sim-1" { true } else { nil }
            }

            try await host.serve(["--preserved-limit", "1"])
            let second = try await host.attach()
            let hello = try await second.agentHello()
            #expect(hello.device.identity == identity)
            #expect(hello.highestEpoch == 5)
            #expect(hello.running == nil)
            #expect(hello.unacknowledged == [AttemptReference(attempt: "a-1", epoch: 5)])
            let report = try await second.report(of: "a-1")
            #expect(report.outcome == .errored)
            #expect(report.cause?.code == "agent-died")
            let udid = try #require(report.preservedDevice)
            #expect(hello.keeping?.devices.map(\.udid) == [udid] && hello.keeping?.refusal == nil)
            #expect(hello.keeping?.devices.first?.attempt == "a-1")
            #expect(try await host.simctl(["list", "-j"]).contains(udid))
            try second.send(
                .recorded(Acknowledgement(attempt: "a-1", epoch: 5, filing: .recorded)),
                to: "sim-1"
            )
            try await eventually("the result is forgotten") { try host.journaled.isSettled }
            // Neither is it sent again, nor is the same claim executed again.
            try second.send(.assign(try TestAssignment.make("a-1", epoch: 5, builds: builds)), to: "sim-1")
            #expect(try await second.declination(of: "a-1").cause.code == "stale-epoch")
            let results = second.messages.filter { if case .result = $0 { true } else { false } }
            #expect(results.count == 1)

            let good = [try await TestBuild.scripted("{}", version: "1.0", in: host.bundles)]
            let next = try await host.perform(second, "a-2", 6, good, case: BuiltInCases.freshInstall)
            #expect(next.outcome == .passed, "\(next)")
            #expect(try await !host.simctl(["list", "-j"]).contains("berth-attempt"))
        }
    }

    @Test("a result that is not acknowledged comes again over the next channel, with its evidence")
    func unacknowledged() async throws {
        try await AgentHost.run { host in
            let agent = try await host.serve()
            let first = try await host.attach()
            let builds = [try await TestBuild.scripted("{}", version: "1.0", in: host.bundles)]
            _ = try await first.agentHello()
            try await first.upload(builds)
            let assignment = try TestAssignment.make("a-1", case: BuiltInCases.freshInstall, builds: builds)
            try first.send(.assign(assignment), to: "sim-1")
            let report = try await first.report(of: "a-1")
            #expect(report.outcome == .passed, "\(report)")
            _ = await first.hangUp()

            // Over another channel, and again after a restart of the agent.
            for round in 1...2 {
                if round == 2 {
                    agent.signalGroup(SIGTERM)
                    #expect(await agent.wait() == .exited(0))
                    try await host.serve()
                }
                let next = try await host.attach()
                #expect(try await next.report(of: "a-1") == report)
                #expect(Set(next.evidence.keys).isSuperset(of: report.files.map(\.digest) + [report.evidence]))
                if round == 1 { _ = await next.hangUp() }
            }
        }
    }

    @Test("without acknowledged heartbeats the attempt ends before the lease does, and its device is put away")
    func leaseLost() async throws {
        try await AgentHost.run { host in
            try await host.serve()
            let coordinator = try await host.attach(lease: 3000)
            _ = try await coordinator.agentHello()
            let builds = try await hanging(host)
            try await coordinator.upload(builds)
            try coordinator.send(.assign(try TestAssignment.make("a-1", builds: builds)), to: "sim-1")
            try await coordinator.progress(of: "a-1", to: "launch verify")
            // Longer than a lease with renewals, and it still runs.
            try await Task.sleep(for: .milliseconds(3500))
            #expect(!coordinator.messages.contains { if case .result = $0 { true } else { false } })
            coordinator.renew(false)
            let silent = ContinuousClock.now
            let report = try await coordinator.report(of: "a-1")
            #expect(report.outcome == .errored)
            #expect(report.cause?.code == "lease-lost")
            #expect(ContinuousClock.now - silent > .milliseconds(1000))
            #expect(try await !host.simctl(["list", "-j"]).contains("berth-attempt"))
        }
    }

    @Test("a cancelled attempt and one over its time limit end with their causes; the agent takes the next one")
    func ended() async throws {
        try await AgentHost.run { host in
            try await host.serve()
            let coordinator = try await host.attach()
            _ = try await coordinator.agentHello()
            let builds = try await hanging(host)
            try await coordinator.upload(builds)
            try coordinator.send(.assign(try TestAssignment.make("a-1", epoch: 1, builds: builds)), to: "sim-1")
            try await coordinator.progress(of: "a-1", to: "launch verify")
            try coordinator.send(.assign(try TestAssignment.make("a-2", epoch: 2, builds: builds)), to: "sim-1")
            #expect(try await coordinator.declination(of: "a-2").cause.code == "busy")
            try coordinator.send(.cancel(Cancellation(attempt: "a-1", epoch: 1, reason: "not wanted")), to: "sim-1")
            let cancelled = try await coordinator.report(of: "a-1")
            #expect(cancelled.outcome == .cancelled)
            #expect(cancelled.cause?.message == "not wanted")

            // The first result waits for its acknowledgement; the slot is free all the same.
            let late = try TestAssignment.make("a-3", epoch: 3, builds: builds, timeout: 4000)
            try coordinator.send(.assign(late), to: "sim-1")
            try await coordinator.acceptance(of: "a-3")
            try coordinator.send(
                .recorded(Acknowledgement(attempt: "a-1", epoch: 1, filing: .recorded)),
                to: "sim-1"
            )
            let timedOut = try await coordinator.report(of: "a-3")
            #expect(timedOut.outcome == .errored)
            #expect(timedOut.cause?.code == "attempt-timeout")
        }
    }

    @Test("what cannot be executed is declined with its cause, and nothing is journaled")
    func declinations() async throws {
        try await AgentHost.run { host in
            try await host.serve()
            let coordinator = try await host.attach()
            _ = try await coordinator.agentHello()
            let builds = [
                try await TestBuild.scripted("{}", version: "1.0", in: host.bundles),
                try await TestBuild.scripted("{}", version: "2.0", in: host.bundles),
            ]
            let other = CaseDefinition(
                name: "locked",
                version: 1,
                scenario: "needs a lock",
                features: ["lock"],
                steps: BuiltInCases.update.steps
            )
            func expect(_ cause: String, _ assignment: Assignment) async throws {
                try coordinator.send(.assign(assignment), to: "sim-1")
                let declination = try await coordinator.declination(of: assignment.attempt)
                #expect(declination.cause.code == cause, "\(declination)")
            }
            try await expect("build-missing", try TestAssignment.make("a-1", builds: builds))
            try await coordinator.upload(builds)
            let os = OSPin(version: "17.0", build: "21A1")
            try await expect("os-mismatch", try TestAssignment.make("a-2", builds: builds, os: os))
            try await expect(
                "platform-mismatch",
                try TestAssignment.make("a-3", builds: builds, platform: .iosSimulator)
            )
            try await expect("features-missing", try TestAssignment.make("a-4", case: other, builds: builds))
            try await expect("malformed-assignment", try TestAssignment.make("../a-5", builds: builds))
            try await expect("stale-epoch", try TestAssignment.make("a-6", epoch: 0, builds: builds))
            #expect(try Journal(path: host.state + "/journal").state.running == nil)
            #expect(try Journal(path: host.state + "/journal").state.highestEpoch == 0)
        }
    }

    @Test("before the coordinator has answered on the channel nothing is taken, and what was declined once never is")
    func secondCopies() async throws {
        try await AgentHost.run { host in
            try await host.serve()
            let coordinator = try await host.attach(renews: false)
            _ = try await coordinator.agentHello()
            let builds = [
                try await TestBuild.scripted("{}", version: "1.0", in: host.bundles),
                try await TestBuild.scripted("{}", version: "2.0", in: host.bundles),
            ]
            try await coordinator.upload(builds)
            // It may have waited in the connection since before the agent was there.
            let early = try TestAssignment.make("a-1", builds: builds)
            try coordinator.send(.assign(early), to: "sim-1")
            #expect(try await coordinator.declination(of: "a-1").cause.code == "lease-over")
            let count = coordinator.messages.count
            coordinator.renew(true)
            _ = try await coordinator.wait("a heartbeat that is answered", after: count) {
                if case .heartbeat = $0 { true } else { nil }
            }
            // By the first answer the run is elsewhere: the copy that comes now is declined as well.
            try coordinator.send(.assign(early), to: "sim-1")
            let again = try await coordinator.wait("it is declined again", after: count) {
                if case .declined(let declination) = $0 { declination.attempt } else { nil }
            }
            #expect(again == "a-1")
            try coordinator.send(.assign(try TestAssignment.make("a-2", epoch: 2, builds: builds)), to: "sim-1")
            try await coordinator.acceptance(of: "a-2")
        }
    }

    @Test("a lower term is refused with a reason; the newest channel of the same term wins")
    func terms() async throws {
        try await AgentHost.run { host in
            try await host.serve()
            let first = try await host.attach(term: 5)
            _ = try await first.agentHello()
            let lower = try await host.attach(term: 4)
            let reason = try await lower.wait("a refusal") { message -> String? in
                if case .closing(let closing) = message { closing.reason } else { nil }
            }
            #expect(reason.contains("term 4") && reason.contains("5"))
            let second = try await host.attach(term: 5)
            _ = try await second.agentHello()
            let replaced = try await first.wait("the end of the older channel") { message -> String? in
                if case .closing(let closing) = message { closing.reason } else { nil }
            }
            #expect(replaced.contains("newer"))
            let start = second.messages.count
            _ = try await second.wait("heartbeats over the newer channel", after: start + 5) { message -> Bool? in
                if case .heartbeat = message { true } else { nil }
            }
        }
    }

    @Test("a damaged journal keeps the agent from starting, with its own status, and stays as it is")
    func damagedJournal() async throws {
        try await AgentHost.run { host in
            let bytes = Array("{\"this\":\"is no journal\"}\n".utf8)
            try DurableFile.replace(host.state + "/journal", with: bytes)
            let agent = try await host.serve(waits: false)
            #expect(await agent.wait() == .exited(AgentFailure.Status.damagedState.rawValue))
            #expect(host.log.contains(host.state + "/journal") && host.log.contains("line 1"))
            #expect(try DurableFile.read(host.state + "/journal", limit: 1000) == bytes)
        }
    }

    @Test("an operator's release has the agent delete the simulators that it preserved")
    func release() async throws {
        try await AgentHost.run { host in
            try await host.serve()
            let coordinator = try await host.attach()
            _ = try await coordinator.agentHello()
            let builds = [
                try await TestBuild.scripted("{}", version: "1.0", in: host.bundles),
                try await TestBuild.scripted(#"{"verify": "exit"}"#, version: "2.0", in: host.bundles),
            ]
            let udid = try #require(try await host.perform(coordinator, "a-1", 1, builds).preservedDevice)
            #expect(try await host.simctl(["list", "-j"]).contains(udid))
            let release = try await CommandRunner.run(
                ProcessSpecification(
                    executable: Products.path("berth-agent"),
                    arguments: ["release", "--state", host.state, "--wait", "30"],
                    environment: host.environment
                ),
                timeout: .seconds(40)
            )
            #expect(release.termination == .exited(0), "\(release.outputText)\(release.errorText)")
            #expect(try await !host.simctl(["list", "-j"]).contains(udid))
        }
    }
}
