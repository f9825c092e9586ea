import BerthAgent
import BerthCore
import BerthSystem
import BerthTestSupport
import Foundation
import Testing

/// Failures of the device tool through the real agent: they are the farm's, whatever the builds are.
@Suite(.timeLimit(.minutes(5))) struct DeviceToolTests {
    private func perform(_ host: AgentHost, _ tool: String) async throws -> AttemptReport {
        try host.wrapTool(tool)
        try await host.serve(wrapped: true)
        let coordinator = try await host.attach()
        _ = try await coordinator.agentHello()
        let builds = [
            try await TestBuild.scripted("{}", version: "1.0", in: host.bundles),
            try await TestBuild.scripted("{}", version: "2.0", in: host.bundles),
        ]
        return try await host.perform(coordinator, "a-1", 1, builds)
    }

    /// A line of the wrapper that acts on a verb, on its second call or later, so that the slot gets ready first.
    private func onVerb(_ verb: String, _ action: String) -> String {
        """
        if [ "$4" = \(verb) ] && [ -e "$root/state/pristine.json" ]; then
            echo x >> "$root/calls-\(verb)"
            \(action)
        fi
        """
    }

    @Test("an attempt whose lease ran out while the host stood still starts no tool, and its device is put away")
    func permit() async throws {
        let recorder = CallRecorder { throw CancellationError() }
        let tool = DeviceTool(xcrun: "/bin/echo").recording(recorder, pulse: ExecutorPulse())
        await #expect(throws: CancellationError.self) {
            try await tool.call("install", ["install"], limit: .seconds(10))
        }
        #expect(recorder.all.isEmpty)
        recorder.beginPuttingAway()
        #expect(try await tool.call("delete", ["delete"], limit: .seconds(10)).outputText == "delete\n")
    }

    @Test("a boot that ends with a failed data migration is none, although the tool exits with 0")
    func failedBoot() async throws {
        try await AgentHost.run { host in
            let report = try await perform(
                host,
                onVerb("bootstatus", #"echo '[d] Status=3, isTerminal=YES, Elapsed=00:01.'; exit 0"#)
            )
            #expect(report.outcome == .errored)
            #expect(report.cause?.code == "boot-failed")
        }
    }

    @Test("an installation that exits with 0 and does nothing is noticed")
    func silentInstall() async throws {
        try await AgentHost.run { host in
            let report = try await perform(host, onVerb("install", "exit 0"))
            #expect(report.outcome == .errored, "\(report)")
            #expect(report.checks.allSatisfy { $0.state != .broken })
        }
    }

    @Test("an installer that fails between seed and verification is no failure of the migration")
    func failingUpdate() async throws {
        try await AgentHost.run { host in
            let report = try await perform(
                host,
                onVerb(
                    "install",
                    """
                    if [ "$(wc -l < "$root/calls-install")" -gt 1 ]; then
                        echo 'Ein Fehler ist aufgetreten.' >&2
                        echo 'An error was encountered (domain=NSPOSIXErrorDomain, code=60):' >&2
                        exit 60
                    fi
                    """
                )
            )
            #expect(report.outcome == .errored)
            #expect(report.cause?.code == "host-session")
            #expect(report.preservedDevice != nil)
        }
    }

    @Test("a boot between seed and verification makes the attempt void, whatever the app says")
    func rebooted() async throws {
        try await AgentHost.run { host in
            let report = try await perform(
                host,
                onVerb(
                    "install",
                    """
                    if [ "$(wc -l < "$root/calls-install")" -gt 1 ]; then
                        "$root/tools/xcrun" simctl --set "$3" shutdown "$5"
                        "$root/tools/xcrun" simctl --set "$3" bootstatus "$5" -b >/dev/null
                    fi
                    """
                )
            )
            #expect(report.outcome == .void, "\(report)")
            #expect(report.cause?.code == "continuity-boot")
        }
    }

    @Test("a tool call that a dead agent left running is ended by the next agent, which then has the device")
    func leftCall() async throws {
        try await AgentHost.run { host in
            try host.wrapTool(onVerb("install", #"echo $$ > "$root/left"; sleep 300; exit 1"#))
            let agent = try await host.serve(wrapped: true)
            let coordinator = try await host.attach()
            _ = try await coordinator.agentHello()
            let builds = [
                try await TestBuild.scripted("{}", version: "1.0", in: host.bundles),
                try await TestBuild.scripted("{}", version: "2.0", in: host.bundles),
            ]
            try await coordinator.upload(builds)
            try coordinator.send(.assign(try TestAssignment.make("a-1", builds: builds)), to: "sim-1")
            try await eventually("the installer runs") { host.read("left")?.hasSuffix("\n") == true }
            kill(agent.pid, SIGKILL)
            _ = await agent.wait()
            let pid = try #require(Int32(host.read("left")?.dropLast() ?? ""))
            let left = try #require(ProcessIdentity(running: pid))
            #expect(left.isRunning)

            try await host.serve(wrapped: true)
            #expect(!left.isRunning)
            #expect(try await host.attach().report(of: "a-1").cause?.code == "agent-died")
        }
    }

    /// A process that has the lock's descriptor, which this process gives up.
    private func holder(of path: String, naming line: String) throws -> ChildProcess {
        let lock = try FileLock.acquire(path: path, holder: line)
        return try withExtendedLifetime(lock) {
            try ChildProcess.spawn(
                ProcessSpecification(
                    executable: "/bin/sleep",
                    arguments: ["300"],
                    inheritedDescriptors: [lock.descriptor]
                )
            )
        }
    }

    @Test("what holds a dead agent's lock is ended even if the agent died before it could journal it")
    func unjournaledHolder() async throws {
        try await AgentHost.run { host in
            let agent = try await host.serve()
            let path = DeviceLock.path(inSet: host.state + "/devices")
            kill(agent.pid, SIGKILL)
            _ = await agent.wait()
            // The dead agent's name stands in the file; a child of its has the descriptor.
            let line = try #require(host.read("state/devices/device.lock"))
            let child = try holder(of: path, naming: line)
            defer { child.signalGroup(SIGKILL) }
            try await host.serve()
            #expect(await child.wait() == .signalled(SIGKILL))
        }
    }

    @Test("a call that does not end is killed with all its processes at its time limit")
    func hanging() async throws {
        let host = try AgentHost()
        try host.wrapTool(#"sleep 300 & echo $! > "$root/child"; wait"#)
        let driver = SimulatorTool(
            xcrun: DeviceTool(xcrun: host.root + "/tools/wrapped"),
            set: host.state,
            limits: SimulatorTool.Limits(),
            boot: .simulatedDevice
        )
        let error = await #expect(throws: DeviceToolError.self) {
            try await driver.simctl("install", ["x"], limit: .seconds(1))
        }
        #expect(error?.kind == .timedOut)
        let pid = try #require(Int32(host.read("child")?.dropLast() ?? ""))
        try await eventually("the call's child is gone") { ProcessIdentity(running: pid)?.isRunning != true }
    }

    @Test("without a device tool the agent says so and ends with status 69")
    func noTool() async throws {
        try await AgentHost.run { host in
            let agent = try await host.serve(wrapped: true, waits: false)
            #expect(await agent.wait() == .exited(AgentFailure.Status.toolUnavailable.rawValue))
            #expect(host.log.contains("/tools/wrapped"))
        }
    }

    @Test(
        "failures are told apart by domain and code, wherever they stand and in whatever language",
        arguments: [
            (148, "Invalid device: 00000000\n", "launch", DeviceToolError.Kind.deviceUnknown),
            (149, "(domain=com.apple.CoreSimulator.SimError, code=405):\nUnable", "boot", .wrongState),
            (164, "(domain=com.apple.CoreSimulator.SimError, code=164):\n", "shutdown", .wrongState),
            (145, "(domain=com.apple.CoreSimulator.SimError, code=401):\n", "boot", .runtimeMissing),
            (4, "Hata\n\n(domain=FBSOpenApplicationServiceErrorDomain, code=4):\n", "launch", .appUnknown),
            (4, "(domain=IXUserPresentableErrorDomain, code=4):\n", "install", .buildRefused),
            (1, "(domain=FBSOpenApplicationServiceErrorDomain, code=1):\n", "launch", .launchDenied),
            (3, "(domain=NSPOSIXErrorDomain, code=3):\n", "terminate", .nothingThere),
            (1, "CoreSimulatorService connection became invalid.\n", "list", .serviceInterrupted),
            (60, "launchd_sim: could not bind to session (domain=X, code=1)", "boot", .hostSession),
            (1, "something else", "list", .other),
        ]
    )
    func classification(exit: Int, text: String, verb: String, kind: DeviceToolError.Kind) async throws {
        let result = try await CommandRunner.run(
            ProcessSpecification(
                executable: "/bin/sh",
                arguments: ["-c", "printf '%s' \"$1\" >&2; exit \(exit)", "sh", text]
            ),
            timeout: .seconds(20)
        )
        let error = DeviceToolError.classify(verb: verb, result, limit: .seconds(1))
        #expect(error?.kind == kind, "\(text)")
    }
}
