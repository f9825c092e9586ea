import BerthCore
import BerthSystem
import BerthTestSupport
import Foundation
import Testing

/// A failed attempt's device, from the failure to a person's release, by the command line alone.
@Suite(.serialized, .timeLimit(.minutes(8)))
struct KeptDeviceTests {
    private func slot(_ farm: TestFarm) async throws -> SlotView {
        try #require(try await farm.json([HostView].self, ["host", "list"]).first?.slots.first)
    }

    /// Types a line of printed instructions on the host, with the settings that go before it.
    private func type(_ instruction: String, of page: String) async throws -> CommandResult {
        let lines = page.split(separator: "\n").filter { $0.hasPrefix("  ") }
            .map { $0.trimmingCharacters(in: .whitespaces) }
        let settings = lines.filter { $0.hasPrefix("export ") }
        let line = try #require(lines.first { $0.contains(" \(instruction) ") }, "\(page)")
        return try await CommandRunner.run(
            ProcessSpecification(
                executable: "/bin/sh",
                arguments: ["-c", (settings + [line]).joined(separator: "\n")],
                environment: TestFarm.environment
            ),
            timeout: .seconds(60)
        )
    }

    @Test("E2: a failed run's device is listed, opened and released; until then the slot says why it takes no run")
    func keptUntilReleased() async throws {
        try await TestFarm.with(slots: 1, preservedLimit: 1) { farm in
            #expect(try await farm.berth(["device", "list"]) == "No device is kept.\n")
            let bad = try await farm.submit(new: ["renamed-query"], cases: ["update"])
            let failed = try #require(try await farm.waitUntilFinished(bad.id).first)
            #expect(failed.verdict == .failed)
            let attempt = try #require(failed.attempts.first)
            let udid = try #require(attempt.report?.preservedDevice)

            let devices = try await farm.json([DeviceView].self, ["device", "list"])
            let kept = try #require(devices.first)
            #expect(devices.count == 1 && kept.device.udid == udid && kept.device.stage == .preserved)
            #expect(kept.device.run == failed.id && kept.device.attempt == attempt.id)
            #expect(kept.device.caseName == "update")
            #expect(kept.device.outcome == .failed && kept.device.cause?.code == attempt.cause?.code)
            #expect(kept.slot == "sim-1" && kept.host == "test-host" && (kept.device.size ?? 0) > 0)
            let table = try await farm.berth(["device", "list"])
            for text in [udid, "preserved", failed.id, attempt.id, "update", "failed"] { #expect(table.contains(text)) }

            // What is printed works when it is typed.
            let page = try await farm.berth(["device", "open", failed.id])
            #expect(page.contains("berth slot shell sim-1") && page.contains("berth run show \(failed.id)"))
            #expect(page.contains("127.0.0.1") && page.contains("simctl --set \(kept.places.deviceSet ?? "?")"))
            #expect(try await farm.berth(["device", "open", attempt.id, "--here"]).contains("Booted \(udid)"))
            #expect(try await type("listapps", of: page).outputText.contains("com.example.product"))
            let container = try await type("get_app_container", of: page)
            let folder = container.outputText.trimmingCharacters(in: .whitespacesAndNewlines)
            #expect(FileManager.default.fileExists(atPath: "\(folder)/Documents/berth/1-seed.json"), "\(container)")
            #expect(try await type("shutdown", of: page).termination == .exited(0))

            // The next run waits, and everybody sees why.
            let good = try await farm.submit(new: ["correct"], cases: ["update"])
            try await eventually("the slot is held") { try await slot(farm).state == .held }
            let held = try await slot(farm)
            #expect(held.reason?.code == "preserved-budget-full" && held.reason?.message.contains(udid) == true)
            #expect(held.kept == 1)
            for command in [["host", "list"], ["status"]] {
                let text = try await farm.berth(command)
                #expect(
                    text.contains("held") && text.contains("preserved-budget-full: 1 device is preserved"),
                    "\(text)"
                )
            }

            // Neither a new agent nor a new coordinator forgets it.
            await farm.killAgent("sim-1")
            try await eventually("the list says that the slot is gone") {
                try await farm.json([DeviceView].self, ["device", "list"]).first?.offlineSince != nil
            }
            let refused = try await farm.tryBerth(["device", "release", udid])
            #expect(
                refused.termination == .exited(75) && refused.errorText.contains("slot-offline"),
                "\(refused.errorText)"
            )
            await farm.killCoordinator()
            try await farm.startCoordinator()
            try await farm.startAgent("sim-1")
            try await eventually("the device is listed again") {
                try await farm.json([DeviceView].self, ["device", "list"]).first?.device.udid == udid
            }
            #expect(try await farm.runs(of: good.id).first?.attempts.isEmpty == true)
            #expect(await !farm.log("coordinator.log").contains("Assignment declined"))

            let unknown = try await farm.tryBerth(["device", "release", "r-99"])
            #expect(unknown.termination == .exited(65) && unknown.errorText.contains(udid))
            let released = try await farm.berth(["device", "release", String(udid.prefix(8)).lowercased()])
            #expect(released.contains("Released \(udid) of sim-1"))
            #expect(try await farm.waitUntilFinished(good.id).first?.verdict == .passed)
            #expect(try await farm.berth(["device", "list"]) == "No device is kept.\n")
            #expect(!FileManager.default.fileExists(atPath: "\(kept.places.deviceSet ?? "")/\(udid)"))
            // The evidence stays.
            let report = try #require(attempt.report)
            for file in report.files { _ = try farm.evidence(file.digest, of: report) }
        }
    }

    @Test("X1: berth slot shell holds the device for a person, and the slot takes no run meanwhile")
    func slotShell() async throws {
        try await TestFarm.with(slots: 1) { farm in
            let line = try await farm.berth(["slot", "shell", "sim-1", "--print"])
            #expect(line.contains("berth-agent shell --state \(farm.root)/slots/sim-1 --yield"))
            let script = try farm.write(
                "#!/bin/sh\necho \"$BERTH_SLOT $BERTH_DEVICE_SET\" > '\(farm.root)/began'\n"
                    + "while [ ! -e '\(farm.root)/done' ]; do sleep 0.05; done\n",
                to: "shell"
            )
            chmod(script, 0o755)
            let shell = try await farm.spawnBerth(["slot", "shell", "sim-1"], ["SHELL": script])
            // The file is there before its line is.
            try await eventually("the shell runs, with the slot's device set at hand") {
                await farm.log("began") == "sim-1 \(farm.root)/slots/sim-1/devices"
            }
            let batch = try await farm.submit(new: ["correct"], cases: ["update"])
            try await eventually("the slot says that somebody works on it") {
                let slot = try await slot(farm)
                return slot.state == .held && slot.reason?.code == "manual-work"
            }
            #expect(try await farm.runs(of: batch.id).first?.state == .queued)
            _ = try farm.write("", to: "done")
            #expect(await shell.wait() == .exited(0))
            #expect(try await farm.waitUntilFinished(batch.id).first?.verdict == .passed)
            let unknown = try await farm.tryBerth(["slot", "shell", "sim-7"])
            #expect(unknown.termination == .exited(65) && unknown.errorText.contains("there are sim-1"))
        }
    }
}
