import BerthAgent
import BerthArchive
import BerthCore
import BerthSystem
import BerthTestSupport
import Foundation
import Testing

/// Bundles that stay on disk from attempt to attempt.
@Suite(
    .enabled(if: SmallDisk.isPossible, "a disk of a few megabytes can only be mounted by root"),
    .timeLimit(.minutes(1))
)
struct LaidOutBuildsTests {
    /// A build of one file of a megabyte and a half.
    private static func build(_ number: UInt8, in blobs: BlobDirectory) throws -> Digest {
        let content = [UInt8](repeating: number, count: 3 << 19)
        let manifest = BuildManifest(
            name: "app-\(number).app",
            entries: [
                .file("program", size: Int64(content.count), executable: true, digest: try blobs.insert(content))
            ]
        )
        return try blobs.insert(try CanonicalJSON.encode(manifest))
    }

    @Test("What lies there for later attempts makes room for a bundle that needs it, and for whatever else does")
    func room() throws {
        let directory = try TemporaryDirectory()
        let blobs = try BlobDirectory(path: directory.path + "/cache")
        let builds = try (1...3).map { try Self.build($0, in: blobs) }
        let disk = try SmallDisk(at: directory.path + "/disk", megabytes: 4)
        defer { disk.unmount() }
        let folder = disk.path + "/bundles"
        let bundles = LaidOutBuilds(folder: folder, builds: KnownBuilds(blobs))
        let first = try bundles.bundle(of: builds[0])
        let second = try bundles.bundle(of: builds[1])
        #expect(access(first, F_OK) == 0 && access(second, F_OK) == 0)
        let third = try bundles.bundle(of: builds[2])
        #expect(try DurableFile.read(third + "/program", limit: 1 << 21) == [UInt8](repeating: 3, count: 3 << 19))
        #expect(access(first, F_OK) != 0 && access(second, F_OK) != 0)
        // The disk has far less left than what may stay at an attempt's end leaves to others.
        try bundles.yield()
        #expect(access(folder, F_OK) != 0)
        #expect(try bundles.bundle(of: builds[0]) == first)
    }
}
