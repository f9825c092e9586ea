import Foundation

/// What the file system of a path has left for this user.
struct DiskRoom: Sendable, Hashable {
    /// Bytes; 0 when unknown.
    private(set) var free: Int64 = 0
    /// Whether there is room for no further file, however small.
    private(set) var hasNoNamesLeft = false

    init(at path: String) {
        var information = statvfs()
        guard statvfs(path, &information) == 0 else { return }
        free = Int64(information.f_bavail) * Int64(information.f_frsize)
        hasNoNamesLeft = information.f_files > 0 && information.f_favail == 0
    }
}
