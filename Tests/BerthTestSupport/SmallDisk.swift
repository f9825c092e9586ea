import BerthSystem
import Foundation

/// A file system of a few megabytes in memory, which can really be full.
package struct SmallDisk: Sendable {
    package let path: String

    /// Whether this process may mount one.
    package static let isPossible: Bool = {
        let path = NSTemporaryDirectory() + "berth-disk-\(getpid())"
        guard let disk = try? SmallDisk(at: path, megabytes: 1) else { return false }
        disk.unmount()
        rmdir(path)
        return true
    }()

    /// - Parameters:
    ///   - path: a folder, made if it is not there.
    ///   - megabytes: its size.
    ///   - files: how many files and folders it takes, itself among them; nil for as many as its size allows.
    /// - Throws: `SystemError`
    package init(at path: String, megabytes: Int, files: Int? = nil) throws {
        self.path = path
        try DurableFile.makeFolder(path)
        guard
            mount("berth-test", path, "tmpfs", 0, "size=\(megabytes)m" + (files.map { ",nr_inodes=\($0)" } ?? "")) == 0
        else {
            throw SystemError(operation: "mount a small disk", path: path, code: errno)
        }
    }

    package func unmount() {
        // Lazily: a file that is still open elsewhere does not keep it in the way.
        _ = umount2(path, Int32(MNT_DETACH))
    }
}
