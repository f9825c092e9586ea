import BerthAgent
import BerthCore
import BerthSystem
import BerthTestSupport
import Foundation
import Testing

/// What an agent keeps after failures: told, kept over its own death, and released by order alone.
@Suite(.serialized, .timeLimit(.minutes(8))) struct KeptDeviceTests {
    private func failingBuilds(_ host: AgentHost) async throws -> [TestBuild] {
        [
            try await TestBuild.scripted("{}", version: "1.0", in: host.bundles),
            try await TestBuild.scripted(#"{"verify": "exit"}"#, version: "2.0", in: host.bundles),
        ]
    }

    @Test("E2: the evidence is there before the device is kept, the device until it is released")
    func keptUntilReleased() async throws {
        try await AgentHost.run { host in
            let agent = try await host.serve(["--preserved-limit", "1"])
            let first = try await host.attach()
            let empty = try #require(try await first.agentHello().keeping)
            #expect(empty.devices.isEmpty && empty.refusal == nil)
            #expect(empty.places.deviceSet == host.state + "/devices" && empty.places.state == host.state)
            let builds = try await failingBuilds(host)
            let report = try await host.perform(first, "a-1", 1, builds)
            let udid = try #require(report.preservedDevice)
            // Who gets the result knows already that the slot is full.
            let order = first.messages.compactMap { message -> String? in
                switch message {
                case .heartbeat(let heartbeat): heartbeat.keeping?.refusal?.code
                case .result: "result"
                default: nil
                }
            }
            #expect(order == ["preserved-budget-full", "result"])
            for file in report.files { #expect(first.evidence[file.digest] != nil, "\(file.path) did not come up") }
            #expect(report.files.contains { $0.path == "status/1-seed.json" })

            try await eventually("the result is acknowledged") { try host.journaled.isSettled }
            kill(agent.pid, SIGKILL)
            _ = await agent.wait()
            _ = await first.hangUp()
            // A crash may come after the evidence was safe and before the note says so.
            let notes = try PreservedDevices(folder: host.state + "/preserved")
            var note = try #require(notes.all().first)
            note.evidence = OutcomeCause("disk-full", "the disk was full")
            notes.add(note)
            try await host.serve(["--preserved-limit", "1"])
            let second = try await host.attach()
            let keeping = try #require(try await second.agentHello().keeping)
            #expect(keeping.refusal?.code == "preserved-budget-full")
            let kept = try #require(keeping.devices.first)
            #expect(kept.udid == udid && kept.attempt == "a-1" && kept.run == "r-a-1" && kept.caseName == "update")
            #expect(kept.outcome == .failed && kept.cause?.code == report.cause?.code && kept.stage == .preserved)
            #expect(kept.bundle == "com.example.product" && (kept.size ?? 0) > 0 && kept.evidence == nil)
            #expect(try await host.simctl(["list", "-j"]).contains(udid))

            let wrong = try await second.release("00000000-0000-0000-0000-000000000000", 1)
            #expect(wrong?.code == "not-kept" && wrong?.message.contains(udid) == true)
            #expect(try await host.simctl(["list", "-j"]).contains(udid))
            #expect(try await second.release(udid, 2) == nil)
            #expect(try await second.keeping { $0.devices.isEmpty }.refusal == nil)
            #expect(try await !host.simctl(["list", "-j"]).contains(udid))
            #expect(try await host.perform(second, "a-2", 2, builds).outcome == .failed)
        }
    }

    @Test("E2: an agent that dies while it puts the device away loses neither the evidence nor the device")
    func deathWhileKeeping() async throws {
        try await AgentHost.run { host in
            try host.wrapTool(
                """
                if [ "$4" = shutdown ] && [ -e "$root/hang" ]; then touch "$root/hangs"; sleep 50; fi
                """
            )
            let agent = try await host.serve(wrapped: true)
            let first = try await host.attach()
            _ = try await first.agentHello()
            try Data().write(to: URL(fileURLWithPath: host.root + "/hang"))
            let builds = try await failingBuilds(host)
            try await first.upload(builds)
            try first.send(.assign(try TestAssignment.make("a-1", epoch: 1, builds: builds)), to: "sim-1")
            try await eventually("the device is being put away") { host.read("hangs") != nil }
            kill(agent.pid, SIGKILL)
            _ = await agent.wait()
            _ = await first.hangUp()
            unlink(host.root + "/hang")

            try await host.serve(wrapped: true)
            let second = try await host.attach()
            let report = try await second.report(of: "a-1")
            #expect(report.outcome == .failed, "\(report)")
            #expect(report.files.contains { $0.path == "status/1-seed.json" })
            for file in report.files { #expect(second.evidence[file.digest] != nil, "\(file.path) did not come up") }
            let udid = try #require(report.preservedDevice)
            #expect(try await second.agentHello().keeping?.devices.map(\.udid) == [udid])
            #expect(try await host.simctl(["list", "-j"]).contains(udid))
        }
    }

    @Test("E2: a held phone is told with its end, and released by order once it is clean, or as it is for a reason")
    func phone() async throws {
        try await PhoneHost.run { phone in
            try await phone.serve()
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
            #expect(report.preservedDevice == phone.udid)
            let held = try await coordinator.keeping { $0.refusal?.code == "device-held" }
            let device = try #require(held.devices.first)
            #expect(device.udid == phone.udid && device.stage == .held && device.attempt == "a-1")
            #expect(device.outcome == .failed && device.until == device.since + 3_600_000)
            #expect(held.places.phone == phone.udid && held.places.deviceSet == nil)

            let refusal = try await coordinator.release(phone.udid, 1)
            #expect(refusal?.code == "cleanup-crashed", "\(String(describing: refusal))")
            let quarantined = try await coordinator.keeping { $0.refusal?.code == "quarantined" }
            #expect(quarantined.devices.first?.stage == .quarantined)
            #expect(try await coordinator.release(phone.udid, 2, unclean: "looked at by hand") == nil)
            let free = try await coordinator.keeping { $0.refusal == nil }
            #expect(free.devices.isEmpty)
            #expect(phone.host.log.contains("looked at by hand"))
        }
    }
}

extension CoordinatorEnd {
    /// What the agent says last of what it keeps, once that is as wanted.
    func keeping(_ isWanted: (SlotKeeping) -> Bool) async throws -> SlotKeeping {
        var latest: SlotKeeping?
        do {
            try await eventually("the agent says what is wanted", within: .seconds(40)) {
                for message in messages {
                    switch message {
                    case .heartbeat(let heartbeat): latest = heartbeat.keeping ?? latest
                    case .agentHello(let hello): latest = hello.keeping
                    default: break
                    }
                }
                return latest.map(isWanted) ?? false
            }
        } catch {
            throw TestFailure("\(error); it says \(String(describing: latest))")
        }
        guard let latest else { throw TestFailure("nothing is said") }
        return latest
    }

    /// Orders the release of a device, and gives the refusal.
    func release(_ udid: String, _ request: UInt64, unclean: String? = nil) async throws -> OutcomeCause? {
        let order = DeviceRelease(request: request, udid: udid, by: "test", unclean: unclean)
        try send(.release(order), to: "sim-1")
        return try await wait("the answer to the release of \(udid)", within: .seconds(40)) {
            message -> DeviceReleased? in
            if case .released(let answer) = message, answer.request == request { answer } else { nil }
        }
        .refusal
    }
}
