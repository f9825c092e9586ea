import BerthAgent
import BerthArchive
import BerthCore
import BerthSystem
import BerthTestSupport
import Foundation
import Testing

/// Whole attempts on a stand-in phone, through a real agent behind a real `attach`.
@Suite(.serialized, .timeLimit(.minutes(8))) struct PhoneAttemptTests {
    @Test("H2, E1: the correct build passes on a phone, is uninstalled and leaves no item for the next attempt to find")
    func correct() async throws {
        try await PhoneHost.run { phone in
            try await phone.serve()
            let coordinator = try await phone.host.attach()
            let hello = try await coordinator.agentHello()
            #expect(hello.device.platform == .standIn)
            #expect(hello.device.platform.kind == .hardware)
            #expect(hello.tools["devicectl"]?.contains("stand-in") == true)
            #expect(!hello.device.identity.contains(phone.udid))

            let builds = try await phone.builds("correct")
            let first = try phone.assignment("a-1", 1, builds, case: BuiltInCases.restart)
            let report = try await phone.perform(coordinator, first, builds)
            #expect(report.outcome == .passed, "\(report)")
            #expect(report.preservedDevice == nil)
            let paths = Set(report.files.map(\.path))
            #expect(paths.isSuperset(of: ["status/1-seed.json", "status/4-cleanup.json", "device.json"]))
            for verb in ["install-app", "process-launch", "copy-from", "uninstall-app"] {
                let call = report.files.first {
                    $0.path.hasPrefix("tools/") && $0.path.hasSuffix("-device-\(verb).txt")
                }
                if verb != "uninstall-app" {
                    let file = try #require(call, "\(verb) is missing from the evidence")
                    let text = String(decoding: coordinator.evidence[file.digest] ?? [], as: UTF8.self)
                    #expect(text.contains("--- report") && text.contains("\"outcome\""))
                }
            }
            #expect(try await !phone.devicectl("device info apps", []).contains("com.example.product"))
            // Another attempt's items would make this one void.
            let second = try phone.assignment("a-2", 2, builds, nonce: PhoneHost.otherNonce)
            #expect(try await phone.perform(coordinator, second, builds).outcome == .passed)
        }
    }

    @Test("E2: after a failure the phone is held; released, it is cleaned exactly and takes attempts again")
    func held() async throws {
        try await PhoneHost.run { phone in
            try await phone.serve()
            let coordinator = try await phone.host.attach()
            _ = try await coordinator.agentHello()
            let builds = try await phone.builds("renamed-query")
            let report = try await phone.perform(coordinator, try phone.assignment("a-1", 1, builds), builds)
            #expect(report.outcome == .failed, "\(report)")
            #expect(report.checks.first { $0.id == .readable }?.state == .broken)
            #expect(report.preservedDevice == phone.udid)
            #expect(try await phone.devicectl("device info apps", []).contains("com.example.product"))

            let next = try phone.assignment("a-2", 2, builds, nonce: PhoneHost.otherNonce)
            let cause = try await phone.declination(coordinator, next)
            #expect(cause.code == "device-held")
            #expect(cause.message.contains("berth-agent release --state \(phone.host.state)"))

            let released = try await phone.release()
            #expect(released.termination == .exited(0), "\(released.outputText)\(released.errorText)")
            #expect(try await !phone.devicectl("device info apps", []).contains("com.example.product"))
            let good = try await phone.builds("correct")
            let third = try phone.assignment("a-3", 3, good, nonce: PhoneHost.otherNonce)
            let after = try await phone.perform(coordinator, third, good)
            #expect(after.outcome == .passed, "\(after)")
            #expect(try await phone.release().termination == .exited(0))
        }
    }

    @Test("a phone that no build of the attempt cleans is quarantined, until an operator takes it as it is")
    func quarantined() async throws {
        try await PhoneHost.run { phone in
            try await phone.serve(["--hold-minutes", "0"])
            let coordinator = try await phone.host.attach()
            _ = try await coordinator.agentHello()
            let builds = [
                try await TestBuild.scripted(#"{"cleanup": "exit"}"#, version: "1.0", in: phone.host.bundles),
                try await TestBuild.scripted(
                    #"{"verify": "exit", "cleanup": "malformed"}"#,
                    version: "2.0",
                    in: phone.host.bundles
                ),
            ]
            let report = try await phone.perform(coordinator, try phone.assignment("a-1", 1, builds), builds)
            #expect(report.outcome == .failed)
            // The hold is over at once: the agent cleans, cannot prove it, and says so to whoever asks.
            let release = try await phone.release()
            #expect(release.termination == .exited(75), "\(release.outputText)\(release.errorText)")
            #expect(release.errorText.contains("cleanup-crashed"))
            let declined = try await phone.declination(coordinator, try phone.assignment("a-2", 2, builds))
            #expect(declined.code == "quarantined")
            #expect(declined.message.contains("berth-agent release --state \(phone.host.state)"))
            let taken = try await phone.release(["--unclean", "the keychain was looked at"])
            #expect(taken.termination == .exited(0), "\(taken.errorText)")
            #expect(phone.host.log.contains("the keychain was looked at"))
            #expect(
                try await phone.perform(coordinator, try phone.assignment("a-3", 3, builds), builds).outcome == .failed
            )
        }
    }

    @Test(
        "a phone that needs a person's hand makes the attempt an error with that cause, and decides nothing",
        arguments: [
            (#"{"locked": true}"#, "device-locked"), (#"{"unpaired": true}"#, "device-not-paired"),
            (#"{"developerModeOff": true}"#, "developer-mode-off"), (#"{"absent": true}"#, "device-not-found"),
            (#"{"system": "16.7"}"#, "device-system-too-old"),
            (#"{"noDeveloperImage": true}"#, "developer-image-unavailable"),
        ]
    )
    func notReady(behaviour: String, cause: String) async throws {
        try await PhoneHost.run { phone in
            try await phone.serve()
            let coordinator = try await phone.host.attach()
            _ = try await coordinator.agentHello()
            try phone.behave(behaviour)
            let builds = try await phone.builds("correct")
            let report = try await phone.perform(coordinator, try phone.assignment("a-1", 1, builds), builds)
            #expect(report.outcome == .errored, "\(report)")
            #expect(report.cause?.code == cause)
            #expect(report.checks.allSatisfy { $0.state == .undecided || $0.id == .secretsStay })
            #expect(report.preservedDevice == nil)
            // Nothing was touched, so nothing stands in the way of the next one; once is enough to see that.
            guard cause == "device-locked" else { return }
            try phone.behave(nil)
            let next = try phone.assignment("a-2", 2, builds, nonce: PhoneHost.otherNonce)
            #expect(try await phone.perform(coordinator, next, builds).outcome == .passed)
        }
    }

    @Test("X1: a second agent on the same phone ends with status 73, wherever its state lies")
    func twoAgents() async throws {
        try await PhoneHost.run { phone in
            try await phone.serve()
            let second = try await CommandRunner.run(
                ProcessSpecification(
                    executable: Products.path("berth-agent"),
                    arguments: [
                        "serve", "--slot", "other", "--state", phone.host.root + "/other", "--sockets",
                        phone.host.sockets, "--cache", phone.host.cache, "--xcrun", phone.host.root + "/tools/xcrun",
                    ] + phone.options,
                    environment: phone.host.environment
                ),
                timeout: .seconds(30)
            )
            #expect(second.termination == .exited(73), "\(second.errorText)")
            #expect(second.errorText.contains("sim-1"))
        }
    }

    @Test("X2: items of an attempt that nobody remembers make the next one void, and the slot is quarantined")
    func unknownLeftovers() async throws {
        try await PhoneHost.run { phone in
            let builds = try await phone.builds("correct")
            let old = phone.host.bundles + "/legacy.app"
            try await phone.devicectl("device install app", [old])
            try await phone.devicectl(
                "device process launch",
                ["--", "com.example.product", "-UITestSeedLegacyKeychain", "-BerthNonce", PhoneHost.otherNonce]
            )
            try await eventually("the seed stands") {
                try await phone.devicectl(
                    "device info files",
                    ["--domain-type", "appDataContainer", "--domain-identifier", "com.example.product"]
                ).contains("1-seed.json")
            }
            try await phone.devicectl("device uninstall app", ["com.example.product"])
            try await phone.serve(["--hold-minutes", "0"])
            let coordinator = try await phone.host.attach()
            _ = try await coordinator.agentHello()
            let report = try await phone.perform(coordinator, try phone.assignment("a-1", 1, builds), builds)
            #expect(report.outcome == .void, "\(report)")
            #expect(report.cause?.code == "not-clean")
            let release = try await phone.release()
            #expect(release.termination == .exited(75), "\(release.outputText)\(release.errorText)")
            #expect(release.errorText.contains("not-clean"))
        }
    }

    @Test("E2: the phone of an attempt whose agent was killed is held; released, it is cleaned before it is used again")
    func agentDied() async throws {
        try await PhoneHost.run { phone in
            let agent = try await phone.serve(["--status-timeout", "30"])
            let coordinator = try await phone.host.attach()
            _ = try await coordinator.agentHello()
            let good = try await phone.builds("correct")
            let builds = [
                good[0], try await TestBuild.scripted(#"{"verify": "hang"}"#, version: "2.0", in: phone.host.bundles),
            ]
            try await coordinator.upload(builds)
            try coordinator.send(.assign(try phone.assignment("a-1", 1, builds)), to: "sim-1")
            try await coordinator.progress(of: "a-1", to: try #require(BuiltInCases.update.steps.last).title)
            kill(agent.pid, SIGKILL)
            _ = await agent.wait()
            _ = await coordinator.hangUp()

            try await phone.serve()
            let again = try await phone.host.attach()
            let died = try await again.report(of: "a-1")
            #expect(died.cause?.code == "agent-died" && died.preservedDevice == phone.udid)
            try again.send(.recorded(Acknowledgement(attempt: "a-1", epoch: 1, filing: .recorded)), to: "sim-1")
            try await again.upload(good)
            let early = try phone.assignment("a-2", 2, good, nonce: PhoneHost.otherNonce)
            #expect(try await phone.declination(again, early).code == "device-held")
            #expect(try await again.release(phone.udid, 1) == nil)
            let next = try phone.assignment("a-3", 3, good, nonce: PhoneHost.otherNonce)
            let report = try await phone.perform(again, next, good)
            #expect(report.outcome == .passed, "\(report)")
        }
    }
}
