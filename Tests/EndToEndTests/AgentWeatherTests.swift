import BerthCore
import BerthSystem
import BerthTestSupport
import Foundation
import Testing

/// Bad weather on an agent's host, as an operator of the whole farm meets it.
@Suite(
    .serialized,
    .timeLimit(.minutes(8)),
    .enabled(if: SmallDisk.isPossible, "a disk of a few megabytes can only be mounted by root")
)
struct AgentWeatherTests {
    /// Has the slot's device tool wait before each installation for as long as a file is there.
    private func gateInstallations(_ farm: TestFarm) throws -> String {
        let gate = "\(farm.root)/gate"
        try FileManager.default.moveItem(atPath: "\(farm.root)/tools", toPath: "\(farm.root)/real-tools")
        try DurableFile.makeFolder("\(farm.root)/tools")
        try DurableFile.replace(
            "\(farm.root)/tools/xcrun",
            with: Array(
                """
                #!/bin/bash
                if [ "$1" = device-info ] || [ "$1" = fault ]; then exec '\(TestFarm.products)/berth-sim' "$@"; fi
                if [ "$4" = install ]; then
                    touch '\(gate)-reached'
                    while [ -e '\(gate)' ]; do sleep 0.02; done
                fi
                exec '\(farm.root)/real-tools/xcrun' "$@"

                """.utf8
            ),
            mode: 0o755
        )
        return gate
    }

    private func slot(_ farm: TestFarm) async throws -> SlotView {
        try #require(try await farm.json([HostView].self, ["host", "list"]).first?.slots.first)
    }

    @Test("a run on a slot whose disk fills up says so, waits, and passes there once there is room; no entry is lost")
    func fullDisk() async throws {
        try await TestFarm.with(slots: 1) { farm in
            await farm.killAgent("sim-1")
            try FileManager.default.removeItem(atPath: "\(farm.root)/slots/sim-1")
            let disk = try SmallDisk(at: "\(farm.root)/slots/sim-1", megabytes: 96)
            defer { disk.unmount() }
            let gate = try gateInstallations(farm)
            _ = try farm.write("", to: "gate")
            try await farm.startAgent("sim-1")
            try await farm.waitForIdleSlots(1)
            let batch = try await farm.submit(new: ["correct"], cases: ["update"])
            try await eventually("the attempt installs a build") { access("\(gate)-reached", F_OK) == 0 }
            let full = try FullDisk(disk)
            unlink(gate)

            try await eventually("the slot is held") { try await slot(farm).state == .held }
            let reason = try #require(try await slot(farm).reason)
            #expect(reason.code == "disk-full" && reason.message.contains("\(farm.root)/slots/sim-1"), "\(reason)")
            try await eventually("the attempt has ended") {
                try await farm.runs(of: batch.id).first?.attempts.first?.outcome != nil
            }
            let waiting = try #require(try await farm.runs(of: batch.id).first)
            let attempt = try #require(waiting.attempts.first)
            #expect(waiting.state == .queued && waiting.attempts.count == 1)
            #expect(attempt.outcome == .errored && attempt.cause?.code == "disk-full", "\(attempt)")
            #expect(!attempt.checks.contains { $0.state == .broken })
            for command in [["run", "show", waiting.id], ["why", waiting.id], ["why", "sim-1"], ["host", "list"]] {
                let text = try await farm.berth(command)
                #expect(text.contains("disk-full") && text.contains("make room"), "\(command): \(text)")
            }
            // A coordinator that comes anew has a term of its own, which the slot cannot write down.
            await farm.killCoordinator()
            try await farm.startCoordinator()
            try await eventually("the slot is held for the new coordinator") {
                try await slot(farm).reason?.code == "disk-full"
            }
            // An agent that comes anew says why it cannot.
            await farm.killAgent("sim-1")
            let agent = try ChildProcess.spawn(await farm.agentSpecification("sim-1"))
            defer { if agent.termination == nil { agent.signalGroup(SIGKILL) } }
            try await eventually("it ends") { agent.termination != nil }
            #expect(agent.termination == .exited(74))
            let log = await farm.log("agent-sim-1.log")
            #expect(log.contains("No space left on device"), "\(log)")
            #expect(log.contains("make room on that disk, then start the agent again"), "\(log)")

            await full.free()
            try await farm.startAgent("sim-1")
            let run = try #require(try await farm.waitUntilFinished(batch.id).first)
            #expect(run.verdict == .passed && run.attempts.map(\.outcome) == [.errored, .passed])
            #expect(run.attempts.allSatisfy { $0.slot == "sim-1" })
            let entries = try await farm.ledger().entries
            #expect(entries.map(\.sequence) == [1, 2] && entries.map(\.attempt) == run.attempts.map(\.id))
            #expect(entries.map(\.outcome) == [.errored, .passed])
            for report in run.attempts.compactMap(\.report) {
                for file in report.files { _ = try farm.evidence(file.digest, of: report) }
            }
            try await farm.waitForIdleSlots(1)
        }
    }
}
