import BerthSystem
import Foundation

/// A file system in a file that breaks as one on a bad disk does: after an error it takes nothing more, also from files
/// that are open, until it is checked and mounted anew.
package struct BreakableDisk: Sendable {
    /// A program that could not do its part.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    package let path: String
    private let image: String
    private let megabytes = 256

    /// Whether this process may mount one, and the kernel lets it break.
    package static func isPossible() async -> Bool {
        let path = NSTemporaryDirectory() + "berth-breakable-\(getpid())"
        defer {
            rmdir(path)
            unlink(path + ".image")
        }
        guard SmallDisk.isPossible, let disk = try? await BreakableDisk(at: path) else { return false }
        defer { disk.unmount() }
        return (try? disk.fail()) != nil
    }

    /// - Parameter path: a folder, made if it is not there; the image lies beside it.
    /// - Throws: `SystemError`, `Failure`
    package init(at path: String) async throws {
        self.path = path
        image = path + ".image"
        try DurableFile.makeFolder(path)
        let file = try FileDescriptor(path: image, flags: O_RDWR | O_CREAT)
        try retryingInterrupts("lengthen", image) { ftruncate(file.number, off_t(megabytes << 20)) }
        try await Self.run(["/usr/sbin/mkfs.ext4", "-q", "-F", image])
        try await mount()
    }

    private func mount() async throws {
        try await Self.run(["/usr/bin/mount", "-o", "loop,errors=remount-ro", image, path])
    }

    /// The disk reports an error to its file system.
    /// - Throws: `SystemError`, `Failure` when it is not mounted
    package func fail() throws {
        let mounts = try String(contentsOfFile: "/proc/mounts", encoding: .utf8)
        guard let line = mounts.split(separator: "\n").first(where: { $0.contains(" \(path) ") }),
            let device = line.split(separator: " ").first?.split(separator: "/").last
        else { throw Failure(description: "\(path) is not mounted") }
        try FileDescriptor(path: "/sys/fs/ext4/\(device)/trigger_fs_error", flags: O_WRONLY).write(Array("1".utf8))
    }

    /// Checks the file system and mounts it anew, as soon as nobody has anything of it open.
    /// - Throws: `Failure`, `WaitedInVain`
    package func mend() async throws {
        try await eventually("nobody uses \(path)", within: .seconds(30)) { umount2(path, 0) == 0 }
        // It ends with 1 when it has repaired something.
        try await Self.run(["/usr/sbin/e2fsck", "-fy", image], statuses: 0...1)
        try await mount()
    }

    package func unmount() {
        _ = umount2(path, Int32(MNT_DETACH))
    }

    private static func run(_ words: [String], statuses: ClosedRange<Int32> = 0...0) async throws {
        let result = try await CommandRunner.run(
            ProcessSpecification(executable: words[0], arguments: Array(words.dropFirst()), environment: [:]),
            timeout: .seconds(30)
        )
        guard case .exited(let status) = result.termination, statuses.contains(status) else {
            throw Failure(description: "\(words): \(result.termination) \(result.errorText)")
        }
    }
}
