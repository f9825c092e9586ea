import BerthArchive
import BerthCore
import BerthSystem
import BerthTestSupport
import Foundation
import Testing

@testable import BerthAgent

/// An agent whose disk is full, read-only or somebody else's: it says so by name, loses nothing, and goes on by itself.
@Suite(
    .serialized,
    .timeLimit(.minutes(8)),
    .enabled(if: SmallDisk.isPossible, "disks can only be mounted, and folders given away, by root")
)
struct BadDiskTests {
    private func builds(_ host: AgentHost, verify: String = "report") async throws -> [TestBuild] {
        [
            try await TestBuild.scripted("{}", version: "1.0", in: host.bundles),
            try await TestBuild.scripted("{\"verify\": \"\(verify)\"}", version: "2.0", in: host.bundles),
        ]
    }

    /// Starts an agent whose attempts come no further than their second launch before `goOn`.
    private func serveGated(_ host: AgentHost) async throws -> ChildProcess {
        try host.wrapTool(
            """
            if [ "$4" = launch ]; then
                echo >> "$root/launches"
                if [ "$(wc -l < "$root/launches")" = 2 ]; then while [ ! -e "$root/go" ]; do sleep 0.02; done; fi
            fi
            """
        )
        return try await host.serve(wrapped: true)
    }

    /// Assigns an attempt that fails at its second launch, and returns when it is about to.
    private func begin(_ host: AgentHost, _ coordinator: CoordinatorEnd) async throws {
        let builds = try await builds(host, verify: "exit")
        try await coordinator.upload(builds)
        try coordinator.send(.assign(try TestAssignment.make("a-1", epoch: 1, builds: builds)), to: "sim-1")
        try await eventually("the new build is launched") { host.read("launches") == "\n\n" }
    }

    private func goOn(_ host: AgentHost) throws {
        try Data().write(to: URL(fileURLWithPath: host.root + "/go"))
    }

    /// What heartbeats have vouched for since a message.
    private func vouched(_ coordinator: CoordinatorEnd, after start: Int) -> [AttemptReference?] {
        coordinator.messages.dropFirst(start).compactMap { message -> AttemptReference?? in
            if case .heartbeat(let heartbeat) = message { .some(heartbeat.running) } else { nil }
        }
    }

    @Test("a pass whose evidence finds no room is delivered from memory, whole; the slot is held until there is room")
    func evidenceWithoutRoom() async throws {
        try await AgentHost.run { host in
            let disk = try SmallDisk(at: host.state + "/results", megabytes: 40)
            defer { disk.unmount() }
            let agent = try await host.serve()
            let coordinator = try await host.attach()
            #expect(try await coordinator.agentHello().keeping?.refusal == nil)
            let builds = try await builds(host)
            try await coordinator.upload(builds)
            try coordinator.send(.assign(try TestAssignment.make("a-1", epoch: 1, builds: builds)), to: "sim-1")
            try await coordinator.acceptance(of: "a-1")
            try disk.fill()
            let report = try await coordinator.report(of: "a-1")
            #expect(report.outcome == .passed, "\(report)")
            for file in report.files { #expect(coordinator.evidence[file.digest] != nil, "\(file.path) is missing") }
            #expect(coordinator.evidence[report.evidence] != nil)
            #expect(Folders.names(in: disk.path) == ["filler", "log"])

            // Until it is acknowledged the attempt stays the slot's, so that nobody takes it for lost.
            let reference = AttemptReference(attempt: "a-1", epoch: 1)
            let count = coordinator.messages.count
            try await eventually("more heartbeats come") { vouched(coordinator, after: count).count >= 20 }
            #expect(vouched(coordinator, after: count).allSatisfy { $0 == reference })
            let held = try await coordinator.keeping { $0.refusal?.code == "disk-full" }
            let words = held.refusal?.message ?? ""
            #expect(words.contains(disk.path) && words.contains("make room"), "\(words)")
            // A new coordinator gets it too.
            _ = await coordinator.hangUp()
            let second = try await host.attach(term: 2)
            let hello = try await second.agentHello()
            #expect(hello.running == reference && hello.keeping?.refusal?.code == "disk-full")
            #expect(try await second.report(of: "a-1") == report)
            try second.send(.recorded(Acknowledgement(attempt: "a-1", epoch: 1, filing: .recorded)), to: "sim-1")
            try await eventually("the slot is free") { vouched(second, after: 0).last == .some(nil) }

            try second.send(.assign(try TestAssignment.make("a-2", epoch: 2, builds: builds)), to: "sim-1")
            #expect(try await second.declination(of: "a-2").cause.code == "disk-full")
            disk.makeRoom()
            _ = try await second.keeping { $0.refusal == nil }
            #expect(try await host.perform(second, "a-3", 3, builds).outcome == .passed)
            try await eventually("the result is forgotten") { try host.journaled.isSettled }

            kill(agent.pid, SIGKILL)
            _ = await agent.wait()
            _ = await second.hangUp()
            try await host.serve()
            let third = try await host.attach(term: 3)
            let after = try await third.agentHello()
            #expect(after.highestEpoch == 3 && after.unacknowledged.isEmpty && after.running == nil)
        }
    }

    @Test("E2: a folder that becomes read-only blames no build; the device is kept, marked until the evidence is safe")
    func readOnlyDuringAnAttempt() async throws {
        try await AgentHost.run { host in
            let agent = try await host.serve(["--status-timeout", "6"])
            let coordinator = try await host.attach()
            let builds = try await builds(host, verify: "hang")
            try await coordinator.upload(builds)
            try coordinator.send(.assign(try TestAssignment.make("a-1", epoch: 1, builds: builds)), to: "sim-1")
            try await coordinator.progress(of: "a-1", to: "launch verify")
            let mount = try ReadOnlyFolder(host.state)
            defer { mount.end() }
            let report = try await coordinator.report(of: "a-1")
            #expect(report.outcome == .errored && report.cause?.code == "state-unwritable", "\(report)")
            let words = report.cause?.message ?? ""
            #expect(words.contains(host.state) && words.contains("Read-only") && words.contains("mount it writable"))
            #expect(!report.checks.contains { $0.state == .broken })
            let udid = try #require(report.preservedDevice)
            let marked = try await coordinator.keeping { !$0.devices.isEmpty && $0.refusal != nil }
            #expect(marked.refusal?.code == "state-unwritable")
            #expect(marked.devices.map(\.udid) == [udid] && marked.devices.first?.evidence?.code == "state-unwritable")
            for file in report.files { #expect(coordinator.evidence[file.digest] != nil, "\(file.path) is missing") }
            try coordinator.send(.recorded(Acknowledgement(attempt: "a-1", epoch: 1, filing: .recorded)), to: "sim-1")
            _ = try await coordinator.keeping { $0.devices.map(\.udid) == [udid] && $0.devices[0].evidence == nil }
            try coordinator.send(.assign(try TestAssignment.make("a-2", epoch: 2, builds: builds)), to: "sim-1")
            #expect(try await coordinator.declination(of: "a-2").cause.code == "state-unwritable")

            mount.end()
            _ = try await coordinator.keeping { $0.refusal == nil }
            try await eventually("the kept device is noted") {
                access("\(host.state)/preserved/\(udid).json", F_OK) == 0
            }
            kill(agent.pid, SIGKILL)
            _ = await agent.wait()
            _ = await coordinator.hangUp()
            try await host.serve(["--status-timeout", "6"])
            let second = try await host.attach(term: 2)
            let hello = try await second.agentHello()
            #expect(hello.unacknowledged.isEmpty && hello.running == nil)
            #expect(hello.keeping?.devices.map(\.udid) == [udid])
            #expect(try await host.simctl(["list", "-j"]).contains(udid))
            let good = try await self.builds(host)
            #expect(try await host.perform(second, "a-3", 3, good).outcome == .passed)
        }
    }

    @Test(
        "E2: what is kept while the disk takes no note is kept by the next agent too, result recorded or not",
        arguments: [false, true]
    )
    func keptInMemory(isRecorded: Bool) async throws {
        try await AgentHost.run { host in
            let agent = try await serveGated(host)
            let coordinator = try await host.attach()
            try await begin(host, coordinator)
            let mount = try ReadOnlyFolder(host.state)
            defer { mount.end() }
            try goOn(host)
            let udid = try #require(try await coordinator.report(of: "a-1").preservedDevice)
            if isRecorded {
                let acknowledgement = Acknowledgement(attempt: "a-1", epoch: 1, filing: .recorded)
                try coordinator.send(.recorded(acknowledgement), to: "sim-1")
                _ = try await coordinator.keeping { $0.devices.map(\.udid) == [udid] && $0.devices[0].evidence == nil }
            }
            kill(agent.pid, SIGKILL)
            _ = await agent.wait()
            _ = await coordinator.hangUp()
            mount.end()
            #expect(Folders.names(in: host.state + "/preserved").isEmpty)

            try await host.serve()
            let second = try await host.attach(term: 2)
            let kept = try #require(try await second.agentHello().keeping?.devices.first)
            #expect(kept.udid == udid && kept.attempt == "a-1" && kept.stage == .preserved)
            #expect(kept.cause?.code == (isRecorded ? "found-without-note" : "agent-died"))
            if !isRecorded {
                #expect(try await second.report(of: "a-1").preservedDevice == udid)
                try second.send(.recorded(Acknowledgement(attempt: "a-1", epoch: 1, filing: .recorded)), to: "sim-1")
            }
            #expect(try await host.perform(second, "a-2", 2, try await self.builds(host)).outcome == .passed)
            #expect(try await host.simctl(["list", "-j"]).contains(udid))
            #expect(access("\(host.state)/preserved/\(udid).json", F_OK) == 0)
            #expect(try await second.release(udid, 1) == nil)
            #expect(try await !host.simctl(["list", "-j"]).contains(udid))
        }
    }

    @Test(
        "E2: a disk that breaks amid an attempt loses neither device nor slot, once it is mended and the host started anew",
        .enabled("a disk can only be broken where ext4 can be mounted from a file", BreakableDisk.isPossible)
    )
    func brokenDisk() async throws {
        try await AgentHost.run { host in
            let disk = try await BreakableDisk(at: host.state)
            defer { disk.unmount() }
            let agent = try await serveGated(host)
            let coordinator = try await host.attach()
            try await begin(host, coordinator)
            try disk.fail()
            try goOn(host)
            let report = try await coordinator.report(of: "a-1")
            #expect(report.outcome == .errored && report.cause?.code == "state-unwritable", "\(report)")
            let udid = try #require(report.preservedDevice)
            try coordinator.send(.recorded(Acknowledgement(attempt: "a-1", epoch: 1, filing: .recorded)), to: "sim-1")
            let held = try await coordinator.keeping { keeping in
                keeping.devices.contains { $0.udid == udid && $0.evidence == nil }
            }
            #expect(held.refusal?.code == "state-unwritable")
            kill(agent.pid, SIGKILL)
            _ = await agent.wait()
            _ = await coordinator.hangUp()
            let early = try await host.serve(waits: false)
            #expect(await early.wait() == .exited(74))
            try await host.restart { try await disk.mend() }

            try await host.serve()
            let second = try await host.attach(term: 2)
            #expect(try await second.agentHello().keeping?.devices.map(\.udid) == [udid])
            // The journal could not say that the result had been acknowledged.
            #expect(try await second.report(of: "a-1").cause?.code == "agent-died")
            try second.send(.recorded(Acknowledgement(attempt: "a-1", epoch: 1, filing: .recorded)), to: "sim-1")
            #expect(try await host.perform(second, "a-2", 2, try await builds(host)).outcome == .passed)
            #expect(try await host.simctl(["list", "-j"]).contains(udid))
        }
    }

    @Test("E2: a device whose evidence dies with its agent stays kept as it was noted, and says so")
    func evidenceLost() async throws {
        try await AgentHost.run { host in
            let disk = try SmallDisk(at: host.state + "/results", megabytes: 40)
            defer { disk.unmount() }
            let agent = try await serveGated(host)
            let coordinator = try await host.attach()
            try await begin(host, coordinator)
            try disk.fill()
            try goOn(host)
            let marked = try await coordinator.keeping { keeping in
                keeping.devices.contains { $0.evidence != nil && $0.size != nil }
            }
            kill(agent.pid, SIGKILL)
            _ = await agent.wait()
            _ = await coordinator.hangUp()
            disk.makeRoom()
            for term in [2, 3] as [UInt64] {
                let next = try await host.serve()
                let again = try await host.attach(term: term)
                let kept = try #require(try await again.agentHello().keeping?.devices.first)
                #expect(kept.udid == marked.devices.first?.udid && kept.cause == marked.devices.first?.cause)
                #expect(kept.evidence?.code == "evidence-lost")
                next.signalGroup(SIGTERM)
                _ = await next.wait()
                _ = await again.hangUp()
            }
        }
    }

    @Test("E2: a phone that is held while the disk takes no record is held by the next agent too")
    func phoneHeldInMemory() async throws {
        try await PhoneHost.run { phone in
            let agent = try await phone.serve(["--status-timeout", "6"])
            let coordinator = try await phone.host.attach()
            let builds = try await builds(phone.host, verify: "hang")
            try await coordinator.upload(builds)
            try coordinator.send(.assign(try phone.assignment("a-1", 1, builds)), to: "sim-1")
            try await coordinator.progress(of: "a-1", to: "launch verify")
            let mount = try ReadOnlyFolder(phone.host.state)
            defer { mount.end() }
            #expect(try await coordinator.report(of: "a-1").preservedDevice == phone.udid)
            _ = try await coordinator.keeping { $0.devices.first?.stage == .held }
            kill(agent.pid, SIGKILL)
            _ = await agent.wait()
            _ = await coordinator.hangUp()
            mount.end()

            try await phone.serve()
            let second = try await phone.host.attach(term: 2)
            let keeping = try #require(try await second.agentHello().keeping)
            #expect(keeping.refusal?.code == "device-held" && keeping.devices.first?.stage == .held)
            #expect(keeping.devices.first?.attempt == "a-1" && keeping.devices.first?.cause?.code == "agent-died")
            let next = try phone.assignment("a-2", 2, builds, nonce: PhoneHost.otherNonce)
            #expect(try await phone.declination(second, next).code == "device-held")
            #expect(try await second.release(phone.udid, 1) == nil)
            _ = try await second.keeping { $0.devices.isEmpty && $0.refusal == nil }
        }
    }

    @Test("an agent does not start on a state folder that it cannot write: status 74, with place, cause and remedy")
    func unusableAtTheStart() async throws {
        try await AgentHost.run { host in
            let mount = try ReadOnlyFolder(host.state)
            defer { mount.end() }
            let first = try await host.serve(waits: false)
            #expect(await first.wait() == .exited(74))
            #expect(host.log.contains("\(host.state): Read-only file system"), "\(host.log)")
            #expect(host.log.contains("mount it writable, then start the agent again"))
            mount.end()

            // Root without its power over other users' files.
            let weak = ["/usr/bin/setpriv", "--bounding-set=-dac_override,-dac_read_search,-fowner", "--inh-caps=-all"]
            chown(host.state, 65534, 65534)
            chmod(host.state, 0o700)
            let second = try await host.serve(by: weak, waits: false)
            #expect(await second.wait() == .exited(74))
            #expect(host.log.contains("\(host.state): Permission denied"), "\(host.log)")
            #expect(host.log.contains("give it to the agent's user root"))
            chown(host.state, 0, 0)
            try await host.serve(by: weak)
            let coordinator = try await host.attach()
            #expect(try await coordinator.agentHello().keeping?.refusal == nil)
            // The same while it serves.
            chown(host.state, 65534, 65534)
            let held = try await coordinator.keeping { $0.refusal != nil }
            #expect(held.refusal?.code == "state-unwritable" && held.refusal?.message.contains(host.state) == true)
            chown(host.state, 0, 0)
            _ = try await coordinator.keeping { $0.refusal == nil }
            #expect(try await host.perform(coordinator, "a-1", 1, try await builds(host)).outcome == .passed)
        }
    }

    @Test("a disk with room for bytes and for no further file is full too, and recovers")
    func withoutNames() throws {
        let directory = try TemporaryDirectory()
        let disk = try SmallDisk(at: directory.path + "/state", megabytes: 64, files: 8)
        defer { disk.unmount() }
        let state = StateFolder(path: disk.path, journal: try Journal(path: disk.path + "/journal"))
        #expect(state.trouble() == nil && state.probe() == nil)
        let names = (0..<8).map { "\(disk.path)/\($0)" }
        let made = names.count { name in
            let number = creat(name, 0o600)
            close(number)
            return number >= 0
        }
        #expect(made > 0 && made < names.count)
        #expect(state.trouble()?.code == .diskFull && state.probe()?.code == .diskFull)
        for name in names { unlink(name) }
        #expect(state.probe() == nil)
    }

    @Test("a result whose report is gone, since it was acknowledged on a full disk, is not promised again")
    func acknowledgedButNotJournaled() async throws {
        try await AgentHost.run { host in
            let journal = try Journal(path: host.state + "/journal")
            try journal.append(.result(AttemptReference(attempt: "a-1", epoch: 1), .passed))
            try await host.serve()
            let coordinator = try await host.attach()
            #expect(try await coordinator.agentHello().unacknowledged.isEmpty)
            #expect(try Journal(path: journal.path).state.unacknowledged.isEmpty)
        }
    }

    @Test("a report that cannot be replaced leaves the earlier one, and one that cannot be kept leaves nothing")
    func pendingResults() async throws {
        let directory = try TemporaryDirectory()
        let disk = try SmallDisk(at: directory.path + "/disk", megabytes: 1)
        defer { disk.unmount() }
        let results = try PendingResults(folder: disk.path + "/results")
        let bytes = [UInt8](repeating: 7, count: 20_000)
        let digest = Digest.sha256(of: bytes)
        let (early, late) = (TestReport.make("a-1", endedAt: 1), TestReport.make("a-1", endedAt: 2))
        try results.keep(KeptResult(report: early, blobs: [:]))
        try disk.fill()
        #expect(throws: SystemError.self) { try results.keep(KeptResult(report: late, blobs: [digest: bytes])) }
        let (first, second) = (AttemptReference(attempt: "a-1", epoch: 1), AttemptReference(attempt: "a-2", epoch: 1))
        #expect(try results.result(first)?.report == early)
        #expect(throws: SystemError.self) {
            try results.keep(KeptResult(report: TestReport.make("a-2", endedAt: 1), blobs: [digest: bytes]))
        }
        #expect(try results.result(second) == nil)
        #expect(try PendingResults(folder: disk.path + "/results").result(first)?.report == early)

        results.hold(try KeptResult(report: late, blobs: [digest: bytes]))
        #expect(try results.result(first) == KeptResult(report: late, blobs: [digest: bytes]))
        #expect(throws: SystemError.self) { try results.writeHeld(first) }
        #expect(results.held(first) == late)
        disk.makeRoom()
        try results.writeHeld(first)
        #expect(results.held(first) == nil)
        let reopened = try PendingResults(folder: disk.path + "/results")
        #expect(try reopened.result(first) == KeptResult(report: late, blobs: [digest: bytes]))
    }
}
