import BerthArchive
import BerthCore
import BerthSystem
import Foundation

extension TestFarm {
    /// Runs a body with a farm that is stopped afterwards, however the body ends.
    static func with(
        slots: Int,
        leaseSeconds: Int = 15,
        preservedLimit: Int = 20,
        data: String? = nil,
        archive: String? = nil,
        wrapAttach: (String) -> String = { $0 },
        _ body: (TestFarm) async throws -> Void
    ) async throws {
        let farm = try await TestFarm.start(
            slots: slots,
            leaseSeconds: leaseSeconds,
            preservedLimit: preservedLimit,
            data: data,
            archive: archive,
            wrapAttach: wrapAttach
        )
        do {
            try await body(farm)
        } catch {
            await farm.stop()
            throw error
        }
        await farm.stop()
    }

    /// Writes a file into the farm's folder.
    /// - Returns: its path.
    nonisolated func write(_ text: String, to name: String) throws -> String {
        try DurableFile.replace("\(root)/\(name)", with: Array(text.utf8))
        return "\(root)/\(name)"
    }

    /// Archives an app that does what a behaviour says, under a name of its own.
    func addScripted(_ name: String, version: String, _ behaviour: String) async throws {
        let bundle = "\(root)/\(name).app"
        let result = try await CommandRunner.run(
            ProcessSpecification(
                executable: "\(packageRoot)/ops/bundle-app",
                arguments: [
                    "\(Self.products)/scripted-app", bundle, "--bundle-id", "com.example.product", "--version", version,
                    "--build", version, "--entitlements", "\(packageRoot)/Sources/SampleApps/Product.entitlements",
                ],
                environment: Self.environment
            ),
            timeout: .seconds(30)
        )
        guard result.termination == .exited(0) else { throw Failure(description: "bundle-app: \(result.errorText)") }
        try DurableFile.replace("\(bundle)/behaviour.json", with: Array(behaviour.utf8))
        try await berth(["build", "add", bundle])
    }

    /// Where the archive keeps a file of a build.
    func blobPath(_ file: String, of build: String) async throws -> String {
        let record = try await json(BuildRecord.self, ["build", "show", build])
        let bytes = try DurableFile.read(archived(record.id), limit: 16 << 20)
        guard let entry = try BuildManifest.parse(bytes).entries.first(where: { $0.path == file }),
            let digest = entry.digest
        else { throw Failure(description: "build \(build) has no file \(file)") }
        return archived(digest)
    }

    /// Where the archive keeps a blob.
    nonisolated func archived(_ digest: Digest) -> String {
        "\(root)/coordinator/archive/blobs/\(digest.hex.prefix(2))/\(digest.hex)"
    }

    /// The bytes of a file of an attempt's evidence, from the archive's folder.
    nonisolated func evidence(_ file: Digest, of report: AttemptReport) throws -> [UInt8] {
        try EvidenceDirectory(beside: try BlobDirectory(path: "\(root)/coordinator/archive"))
            .read(file, of: report.evidence, limit: 64 << 20)
    }

    /// Processes whose program or working folder lies in the farm's slots, such as running apps.
    nonisolated func processesOfSlots() -> [String] {
        let files = FileManager.default
        let processes = (try? files.contentsOfDirectory(atPath: "/proc")) ?? []
        return processes.filter { Int32($0) != nil }.compactMap { process in
            let program = try? files.destinationOfSymbolicLink(atPath: "/proc/\(process)/exe")
            return program.flatMap { $0.hasPrefix("\(root)/slots/") ? $0 : nil }
        }
    }
}
