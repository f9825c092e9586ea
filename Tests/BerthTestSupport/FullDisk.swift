import BerthSystem
import Foundation

/// Keeps a small disk full: whatever becomes free is taken at once.
package final class FullDisk: Sendable {
    private let path: String
    private let topping: Task<Void, Never>

    /// Fills a disk, and tops it up until `free`.
    /// - Throws: `SystemError` when the filler cannot be made.
    package init(_ disk: SmallDisk) throws {
        let path = "\(disk.path)/filler"
        let file = try FileDescriptor(path: path, flags: O_WRONLY | O_CREAT | O_APPEND)
        self.path = path
        Self.take(file)
        topping = Task {
            while !Task.isCancelled {
                Self.take(file)
                try? await Task.sleep(for: .milliseconds(2))
            }
        }
    }

    deinit { topping.cancel() }

    /// Writes until nothing more fits.
    private static func take(_ file: FileDescriptor) {
        for size in [1 << 20, 4096] {
            let bytes = [UInt8](repeating: 1, count: size)
            while write(file.number, bytes, size) > 0 {}
        }
    }

    /// Makes room again.
    package func free() async {
        topping.cancel()
        await topping.value
        unlink(path)
    }
}
