import BerthSystem
import Foundation

/// A folder that nothing can be written into by its path, as after a disk's error: a read-only mount over itself.
package struct ReadOnlyFolder: Sendable {
    package let path: String

    /// - Throws: `SystemError`
    package init(_ path: String) throws {
        self.path = path
        guard mount(path, path, nil, UInt(MS_BIND), nil) == 0 else {
            throw SystemError(operation: "mount over itself", path: path, code: errno)
        }
        guard mount(nil, path, nil, UInt(MS_BIND) | UInt(MS_REMOUNT) | UInt(MS_RDONLY), nil) == 0 else {
            let code = errno
            end()
            throw SystemError(operation: "mount read-only", path: path, code: code)
        }
    }

    /// Makes it writable again.
    package func end() {
        _ = umount2(path, Int32(MNT_DETACH))
    }
}
