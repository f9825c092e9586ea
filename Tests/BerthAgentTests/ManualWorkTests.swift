import BerthAgent
import BerthCore
import BerthSystem
import BerthTestSupport
import Foundation
import Testing

/// A person's shell and the agent share one device by one kernel lock.
@Suite(.serialized, .timeLimit(.minutes(5))) struct ManualWorkTests {
    /// Starts `berth-agent shell` with a script as the person's shell.
    private func shell(_ host: AgentHost, _ lines: String, _ more: [String] = ["--yield"]) throws -> ChildProcess {
        let script = host.root + "/shell-\(UUID().uuidString)"
        try Data("#!/bin/bash\nroot='\(host.root)'\n\(lines)\n".utf8).write(to: URL(fileURLWithPath: script))
        chmod(script, 0o755)
        return try ChildProcess.spawn(
            ProcessSpecification(
                executable: Products.path("berth-agent"),
                arguments: ["shell", "--state", host.state] + more,
                environment: ["PATH": "/usr/bin:/bin", "HOME": host.root, "SHELL": script],
                standardError: .appendingFile(host.root + "/shell.log")
            )
        )
    }

    @Test("X1: an idle agent lets go of its device, takes no attempt meanwhile, and takes it back after the shell")
    func yields() async throws {
        try await AgentHost.run { host in
            try await host.serve()
            let coordinator = try await host.attach()
            _ = try await coordinator.agentHello()
            let builds = [
                try await TestBuild.sample("legacy", version: "1.0", in: host.bundles),
                try await TestBuild.sample("correct", version: "2.0", in: host.bundles),
            ]
            // Without being asked the agent keeps what it has.
            let refused = try shell(host, "", [])
            #expect(await refused.wait() == .exited(AgentFailure.Status.deviceHeld.rawValue))
            #expect(host.read("shell.log")?.contains("slot sim-1") == true)
            #expect(host.read("shell.log")?.contains("--yield") == true)

            let work = try shell(
                host,
                """
                xcrun simctl --set "$BERTH_DEVICE_SET" list -j > "$root/seen"
                pristine=$(grep -o '"udid" *: *"[^"]*"' "$root/seen" | head -1 | cut -d'"' -f4)
                xcrun simctl --set "$BERTH_DEVICE_SET" boot "$pristine"
                touch "$root/began"
                while [ ! -e "$root/done" ]; do sleep 0.05; done
                """
            )
            try await eventually("the shell works") {
                if let end = work.termination { throw TestFailure("\(end): \(host.read("shell.log") ?? "")") }
                return host.read("began") != nil
            }
            #expect(try await coordinator.keeping { $0.refusal?.code == "manual-work" }.devices.isEmpty)
            try await coordinator.upload(builds)
            try coordinator.send(.assign(try TestAssignment.make("a-1", epoch: 1, builds: builds)), to: "sim-1")
            #expect(try await coordinator.declination(of: "a-1").cause.code == "manual-work")
            let second = try shell(host, "")
            #expect(await second.wait() == .exited(AgentFailure.Status.deviceHeld.rawValue))
            #expect(host.read("shell.log")?.contains("has asked for the device of sim-1 before") == true)
            #expect(try await coordinator.release("any", 1)?.code == "manual-work")

            try Data().write(to: URL(fileURLWithPath: host.root + "/done"))
            #expect(await work.wait() == .exited(0))
            _ = try await coordinator.keeping { $0.refusal == nil }
            // What was left booted is shut down, or nothing could be cloned from it.
            #expect(try await host.perform(coordinator, "a-2", 2, builds).outcome == .passed)
        }
    }

    @Test("X1: a killed shell gives the device back by the kernel's word, once nothing that it started holds it")
    func killedShell() async throws {
        try await AgentHost.run { host in
            try await host.serve()
            let coordinator = try await host.attach()
            _ = try await coordinator.agentHello()
            let work = try shell(host, "sleep 300 & echo $! > \"$root/child\"; wait")
            try await eventually("the shell has a child") { host.read("child")?.hasSuffix("\n") == true }
            _ = try await coordinator.keeping { $0.refusal?.message.contains("works by hand") == true }
            kill(work.pid, SIGKILL)
            _ = await work.wait()
            let child = try #require(Int32(host.read("child")?.trimmingCharacters(in: .newlines) ?? ""))
            let left = try await coordinator.keeping { $0.refusal?.message.contains("still holds the device") == true }
            #expect(left.refusal?.message.contains("process \(child)") == true)
            kill(child, SIGKILL)
            _ = try await coordinator.keeping { $0.refusal == nil }
            let holder = try String(contentsOfFile: host.state + "/devices/device.lock", encoding: .utf8)
            #expect(holder.contains("slot sim-1") && !holder.contains("work manual"))
        }
    }

    @Test("X1: an agent does not start under a person's shell, and ends nothing that the shell started")
    func agentStartsLater() async throws {
        try await AgentHost.run { host in
            let agent = try await host.serve()
            await agent.end(grace: .seconds(10))
            let work = try shell(host, "sleep 300 & echo $! > \"$root/child\"; wait", [])
            try await eventually("the shell has a child") { host.read("child")?.hasSuffix("\n") == true }
            let child = try #require(Int32(host.read("child")?.trimmingCharacters(in: .newlines) ?? ""))
            let early = try await host.serve(waits: false)
            #expect(await early.wait() == .exited(AgentFailure.Status.deviceHeld.rawValue))
            kill(work.pid, SIGKILL)
            _ = await work.wait()
            let late = try await host.serve(waits: false)
            #expect(await late.wait() == .exited(AgentFailure.Status.deviceHeld.rawValue))
            #expect(host.log.contains("end these processes first: \(child)"))
            #expect(kill(child, 0) == 0)
            kill(child, SIGKILL)
            try await host.serve()
        }
    }

    @Test("X1: a running attempt is not disturbed: the shell gets the phone when it has ended")
    func waitsForTheAttempt() async throws {
        try await PhoneHost.run { phone in
            let host = phone.host
            try await phone.serve(["--status-timeout", "4"])
            let coordinator = try await host.attach()
            _ = try await coordinator.agentHello()
            let good = try await phone.builds("correct")
            let builds = [
                good[0], try await TestBuild.scripted(#"{"verify": "hang"}"#, version: "2.0", in: host.bundles),
            ]
            try await coordinator.upload(builds)
            try coordinator.send(.assign(try phone.assignment("a-1", 1, builds)), to: "sim-1")
            try await coordinator.progress(of: "a-1", to: try #require(BuiltInCases.update.steps.last).title)
            let work = try shell(
                host,
                """
                echo "$BERTH_UDID" > "$root/began"
                while [ ! -e "$root/done" ]; do sleep 0.05; done
                """
            )
            let waiting = try await coordinator.keeping { $0.refusal?.code == "manual-work" }
            #expect(waiting.refusal?.message.contains("waits for the device") == true)
            #expect(host.read("began") == nil)
            #expect(try await coordinator.report(of: "a-1").outcome == .failed)
            try await eventually("the shell has the phone") { host.read("began")?.hasSuffix("\n") == true }
            #expect(host.read("began") == phone.udid + "\n")
            // The held phone is the person's to look at, and stays held.
            let kept = try await coordinator.keeping { $0.refusal?.message.contains("works by hand") == true }
            #expect(kept.devices.first?.stage == .held)
            try Data().write(to: URL(fileURLWithPath: host.root + "/done"))
            #expect(await work.wait() == .exited(0))
            #expect(try await coordinator.keeping { $0.refusal?.code == "device-held" }.devices.count == 1)
            #expect(try await coordinator.release(phone.udid, 1) == nil)
        }
    }
}
