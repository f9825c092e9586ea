import BerthSystem
import BerthTestSupport
import Foundation
import Testing

/// A coordinator that is started while its disk is full.
@Suite(
    .serialized,
    .timeLimit(.minutes(3)),
    .enabled(if: SmallDisk.isPossible, "a disk of a few megabytes can only be mounted by root")
)
struct StartOnFullDiskTests {
    private func withDisk(_ body: (TemporaryDirectory, SmallDisk) async throws -> Void) async throws {
        let folder = try TemporaryDirectory()
        let disk = try SmallDisk(at: "\(folder.path)/disk", megabytes: 8)
        defer { disk.unmount() }
        try await body(folder, disk)
    }

    @Test func itServesWhatItHasAndSaysSo() async throws {
        try await withDisk { folder, disk in
            let (data, log) = ("\(disk.path)/data", "\(folder.path)/log")
            let first = try await LoneCoordinator.start(data: data, log: log)
            #expect(try await first.berth(["token", "add", "eve", "viewer"]).termination == .exited(0))
            await first.stop()
            let full = try FullDisk(disk)
            let second = try await LoneCoordinator.start(data: data, log: log, addressIn: "The disk is full")
            let tokens = try await second.berth(["token", "list"])
            #expect(tokens.termination == .exited(0) && tokens.outputText.contains("eve"), "\(tokens.errorText)")
            #expect(access("\(data)/address", F_OK) != 0)
            let refused = try await second.berth(["token", "add", "kim", "viewer"])
            #expect(refused.termination == .exited(75) && refused.errorText.contains("[storage-full]"))
            await full.free()
            #expect(try await second.berth(["token", "add", "kim", "viewer"]).termination == .exited(0))
            await second.stop()
        }
    }

    @Test func oneThatHasNothingYetEndsWithWhatToDo() async throws {
        try await withDisk { folder, disk in
            let full = try FullDisk(disk)
            let data = "\(disk.path)/data"
            let result = try await CommandRunner.run(
                ProcessSpecification(
                    executable: "\(TestFarm.products)/berth-coordinator",
                    arguments: ["serve", "--data", data, "--listen", "127.0.0.1:0"],
                    environment: TestFarm.environment
                ),
                timeout: .seconds(30),
                outputLimit: 1 << 20
            )
            #expect(result.termination == .exited(74))
            #expect(result.errorText.contains("make room, then start again"), "\(result.errorText)")
            await full.free()
            // What the start that was cut off has left is in nobody's way.
            let coordinator = try await LoneCoordinator.start(data: data, log: "\(folder.path)/log")
            #expect(try await coordinator.berth(["token", "list"]).outputText.contains("admin"))
            await coordinator.stop()
        }
    }
}
