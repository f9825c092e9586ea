import CBerthSystem
import Foundation

/// Tells a file from a later one of the same name, whose number may be the same.
package struct FileStamp: Sendable, Hashable {
    private let number: UInt64
    /// In nanoseconds since 1970.
    private let changed: Int64

    /// The socket at a path; nil if there is none.
    package init?(socket path: String) {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK else { return nil }
        number = UInt64(status.st_ino)
        changed = berth_changed(path)
    }
}
