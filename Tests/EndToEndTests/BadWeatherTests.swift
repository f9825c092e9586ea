import BerthCore
import BerthSystem
import BerthTestSupport
import Foundation
import Testing

/// Full disks, rotten blobs, wrong tokens and clocks: each has its name, and nothing is lost.
@Suite(.serialized, .timeLimit(.minutes(8)))
struct BadWeatherTests {
    @Test func aBlobThatRotsInTheArchiveMakesNoVerdict() async throws {
        try await TestFarm.with(slots: 1) { farm in
            let program = try await farm.blobPath("correct", of: "correct")
            let whole = try DurableFile.read(program, limit: 1 << 28)
            var rotten = whole
            rotten[rotten.count / 2] ^= 1
            try DurableFile.replace(program, with: rotten)
            let batch = try await farm.submit(new: ["correct"], cases: ["update"])
            let run = try #require(try await farm.waitUntilFinished(batch.id).first)
            #expect(run.verdict == .unproven)
            let digest = try #require(program.split(separator: "/").last)
            for attempt in run.attempts {
                #expect(attempt.cause?.code == "archive-unusable")
                #expect(attempt.cause?.message.contains("the blob sha256:\(digest) is damaged") == true)
            }
            // A file that is not there at all is named before anything waits for it.
            unlink(program)
            let refused = try await farm.tryBerth(["submit", "--old", "legacy", "--new", "correct", "--case", "update"])
            #expect(refused.termination == .exited(65))
            #expect(refused.errorText.contains("[archive-damaged]") && refused.errorText.contains("\(digest)"))
            // The same bundle sent again heals the archive.
            try await farm.berth(["build", "add", "\(farm.root)/builds/correct.app"])
            #expect(try DurableFile.read(program, limit: 1 << 28) == whole)
            let healed = try await farm.submit(new: ["correct"], cases: ["update"])
            #expect(try await farm.waitUntilFinished(healed.id).first?.verdict == .passed)
        }
    }

    @Test func aHostWhoseClockIsHoursOffIsShownAndItsResultsCount() async throws {
        // What the host says of its clock is moved by two hours on its way; the number keeps its length.
        let late =
            #"perl -e '$|=1; while (sysread(STDIN, $b, 65536)) "#
            + #"{ $b =~ s/("wallClock":)(\d{13})/$1.($2+7200000)/e; print $b }'"#
        try await TestFarm.with(slots: 1, wrapAttach: { "\($0) | \(late)" }) { farm in
            let host = try #require(try await farm.json([HostView].self, ["host", "list"]).first)
            let skew = try #require(host.clockSkew)
            #expect(abs(skew - 7_200_000) < 60_000, "\(skew)")
            #expect(try await farm.berth(["host", "list"]).contains(/\+7(19|20)\d{4} ms/))
            let batch = try await farm.submit(new: ["correct"], cases: ["update"], repeats: 2)
            let runs = try await farm.waitUntilFinished(batch.id)
            #expect(runs.allSatisfy { $0.verdict == .passed })
            let entries = try await farm.ledger().entries
            #expect(
                entries.map(\.sequence) == [1, 2] && entries.map(\.recordedAt) == entries.map(\.recordedAt).sorted()
            )
        }
    }

    @Test(.enabled(if: SmallDisk.isPossible, "a disk of a few megabytes can only be mounted by root"))
    func aFullDiskRefusesAnUploadByNameAndTheSameWorksAfterwards() async throws {
        let folder = try TemporaryDirectory()
        let disk = try SmallDisk(at: "\(folder.path)/data", megabytes: 24)
        defer { disk.unmount() }
        try await fillAndFree(disk.path, folder.path)
    }

    private func fillAndFree(_ data: String, _ folder: String) async throws {
        let coordinator = try await LoneCoordinator.start(data: data, log: "\(folder)/log")
        do {
            try await fillAndFree(coordinator, data, folder)
        } catch {
            await coordinator.stop()
            throw error
        }
        await coordinator.stop()
    }

    private func fillAndFree(_ coordinator: LoneCoordinator, _ data: String, _ folder: String) async throws {
        let bundle = "\(folder)/big.app"
        let made = try await CommandRunner.run(
            ProcessSpecification(
                executable: "\(packageRoot)/ops/bundle-app",
                arguments: [
                    "\(TestFarm.products)/scripted-app", bundle, "--bundle-id", "com.example.big", "--version", "1",
                    "--build", "1", "--entitlements", "\(packageRoot)/Sources/SampleApps/Product.entitlements",
                ],
                environment: TestFarm.environment
            ),
            timeout: .seconds(30)
        )
        #expect(made.termination == .exited(0))
        try DurableFile.replace("\(bundle)/ballast", with: RandomBytes.make(8 << 20))
        // Leaves the coordinator's own files room, and the bundle none.
        try DurableFile.replace("\(data)/filler", with: [UInt8](repeating: 1, count: 18 << 20))
        let refused = try await coordinator.berth(["build", "add", bundle])
        #expect(refused.termination == .exited(75), "\(refused.errorText)")
        #expect(refused.errorText.contains("[disk-full]") || refused.errorText.contains("[storage-full]"))
        #expect(try await coordinator.berth(["build", "list", "--json"]).outputText == "[]\n")
        try checkArchive(data)
        unlink("\(data)/filler")
        let accepted = try await coordinator.berth(["build", "add", bundle])
        #expect(accepted.termination == .exited(0), "\(accepted.errorText)")
        try checkArchive(data)
    }

    /// Every blob that lies in the archive has the digest of its name.
    private func checkArchive(_ data: String) throws {
        let blobs = "\(data)/archive/blobs"
        for folder in try FileManager.default.contentsOfDirectory(atPath: blobs) {
            for name in try FileManager.default.contentsOfDirectory(atPath: "\(blobs)/\(folder)") {
                let bytes = try DurableFile.read("\(blobs)/\(folder)/\(name)", limit: 1 << 28)
                #expect(Hex.encode(SHA256.digest(of: bytes)) == name)
            }
        }
    }

    @Test func strangersAndGiantsAreTurnedAway() async throws {
        let folder = try TemporaryDirectory()
        let coordinator = try await LoneCoordinator.start(data: "\(folder.path)/data", log: "\(folder.path)/log")
        let stranger = try await coordinator.berth(["build", "list"], token: "not-a-token")
        let giant = "\(folder.path)/giant"
        try DurableFile.replace(giant, with: [UInt8](repeating: 32, count: 2 << 20))
        let answer = try await CommandRunner.run(
            ProcessSpecification(
                executable: "/usr/bin/curl",
                arguments: [
                    "-s", "-w", " %{http_code}", "-H", "Authorization: Bearer \(coordinator.token)", "--data-binary",
                    "@\(giant)", "\(coordinator.address)/v1/plans",
                ],
                environment: TestFarm.environment
            ),
            timeout: .seconds(30)
        )
        let alive = try await coordinator.berth(["build", "list"])
        await coordinator.stop()
        #expect(stranger.termination == .exited(77) && stranger.errorText.contains("[unauthorized]"))
        #expect(answer.outputText.hasSuffix(" 413"), "\(answer.outputText)")
        #expect(alive.termination == .exited(0))
    }
}
