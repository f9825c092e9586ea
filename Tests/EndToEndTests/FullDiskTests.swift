import BerthArchive
import BerthCore
import BerthSystem
import BerthTestSupport
import Foundation
import Testing

/// The coordinator's disk is full while attempts are running and their results come in.
@Suite(
    .serialized,
    .timeLimit(.minutes(6)),
    .enabled(if: SmallDisk.isPossible, "a disk of a few megabytes can only be mounted by root")
)
struct FullDiskTests {
    /// Long enough for a simulated device to be slow, short enough to pass while the disk is full.
    private static let leaseSeconds = 5

    private func withFarm(
        megabytes: Int,
        archive: Bool,
        _ body: (TestFarm, SmallDisk) async throws -> Void
    ) async throws {
        let folder = try TemporaryDirectory()
        let disk = try SmallDisk(at: "\(folder.path)/disk", megabytes: megabytes)
        defer { disk.unmount() }
        let elsewhere = "\(folder.path)/archive"
        try await TestFarm.with(
            slots: 2,
            leaseSeconds: Self.leaseSeconds,
            data: archive ? nil : disk.path,
            archive: archive ? disk.path : elsewhere
        ) { try await body($0, disk) }
    }

    /// Runs a body on a disk that is kept full; there is room again afterwards, however it ends.
    private func whileFull(_ disk: SmallDisk, _ body: () async throws -> Void) async throws {
        let full = try FullDisk(disk)
        do {
            try await body()
        } catch {
            await full.free()
            throw error
        }
        await full.free()
    }

    private func running(_ batch: BatchView, _ farm: TestFarm) async throws {
        try await eventually("both runs are being executed") {
            try await farm.runs(of: batch.id).allSatisfy { $0.state == .running }
        }
    }

    /// Waits until both slots' agents have ended their attempts, and say so with a full lease in between; all the while
    /// nobody gives them up.
    private func holdOut(_ batch: BatchView, _ farm: TestFarm, cause: String) async throws {
        for slot in ["sim-1", "sim-2"] {
            try await eventually("\(slot) says what is in the way") {
                try await farm.berth(["why", slot]).contains(cause)
            }
        }
        let lease = ContinuousClock.now + .seconds(Self.leaseSeconds * 2)
        try await eventually("two leases have passed") {
            let runs = try await farm.runs(of: batch.id)
            #expect(runs.allSatisfy { $0.state == .running && $0.attempts.count == 1 })
            let host = try #require(try await farm.json([HostView].self, ["host", "list"]).first)
            #expect(host.state == .connected)
            return ContinuousClock.now > lease
        }
    }

    private func checkAllRecorded(_ batch: BatchView, _ farm: TestFarm, archive: String) async throws {
        let runs = try await farm.waitUntilFinished(batch.id)
        for run in runs {
            #expect(run.verdict == .passed && run.attempts.count == 1, "\(run.attempts.map(\.cause))")
        }
        let ledger = try await farm.json(LedgerView.self, ["ledger", "simulator", "--verify"])
        #expect(ledger.entries.map(\.run).sorted() == runs.map(\.id).sorted())
        let evidence = EvidenceDirectory(beside: try BlobDirectory(path: archive))
        for entry in ledger.entries {
            let manifest = try #require(entry.evidence)
            #expect(try !evidence.read(manifest, of: manifest, limit: 1 << 20).isEmpty)
        }
        for report in runs.compactMap(\.attempts.first?.report) {
            for file in report.files { _ = try evidence.read(file.digest, of: report.evidence, limit: 64 << 20) }
        }
        #expect(await !farm.log("coordinator.log").contains("Host not connected"))
        for slot in ["sim-1", "sim-2"] {
            try await eventually("nothing is in the way of \(slot)") {
                try await !farm.berth(["why", slot]).contains("not written down")
            }
        }
    }

    @Test func aFullArchiveLosesNoEvidenceAndFailsNoAttempt() async throws {
        try await withFarm(megabytes: 96, archive: true) { farm, disk in
            let batch = try await farm.submit(new: ["correct"], cases: ["update"], repeats: 2)
            try await running(batch, farm)
            try await whileFull(disk) {
                try await holdOut(batch, farm, cause: "disk-full")
                let refused = try await farm.tryBerth(["build", "add", "\(farm.root)/builds/deletes-corrupt.app"])
                #expect(refused.termination == .exited(75) && refused.errorText.contains("[disk-full]"))
                #expect(refused.errorText.contains("free space"), "\(refused.errorText)")
            }
            try await checkAllRecorded(batch, farm, archive: disk.path)
            try await farm.berth(["build", "add", "\(farm.root)/builds/deletes-corrupt.app"])
        }
    }

    @Test func aFullStoreLosesNoResultAndFailsNoAttempt() async throws {
        try await withFarm(megabytes: 24, archive: false) { farm, disk in
            let batch = try await farm.submit(new: ["correct"], cases: ["update"], repeats: 2)
            try await running(batch, farm)
            try await whileFull(disk) {
                try await holdOut(batch, farm, cause: "storage-full")
                let refused = try await farm.tryBerth([
                    "submit", "--old", "legacy", "--new", "correct", "--case", "update", "--platform",
                    "linux-simulated",
                ])
                #expect(refused.termination == .exited(75) && refused.errorText.contains("[storage-full]"))
                #expect(refused.errorText.contains("free space"), "\(refused.errorText)")
            }
            let archive = URL(fileURLWithPath: disk.path).deletingLastPathComponent().path + "/archive"
            try await checkAllRecorded(batch, farm, archive: archive)
            let another = try await farm.submit(new: ["correct"], cases: ["fresh-install"])
            #expect(try await farm.waitUntilFinished(another.id).first?.verdict == .passed)
        }
    }
}
