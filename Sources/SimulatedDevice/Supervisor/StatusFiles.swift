import Foundation

/// The status files in an app's data container at one moment, to see whether one was written since.
struct StatusFiles: Equatable, Sendable {
    private struct Version: Equatable {
        let seconds: Int
        let nanoseconds: Int
        let inode: UInt64
    }

    private let versions: [String: Version]

    /// Looks at the folder `Documents/berth` of a data container.
    init(container: String) {
        let folder = "\(container)/Documents/berth"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        var versions: [String: Version] = [:]
        // A name that starts with a dot is a file that is still being written.
        for name in names where name.hasSuffix(".json") && !name.hasPrefix(".") {
            var status = stat()
            guard stat("\(folder)/\(name)", &status) == 0 else { continue }
            versions[name] = Version(
                seconds: status.st_mtim.tv_sec,
                nanoseconds: status.st_mtim.tv_nsec,
                inode: UInt64(status.st_ino)
            )
        }
        self.versions = versions
    }

    /// Whether a file here is new or newer than in an earlier look.
    func hasNews(since earlier: StatusFiles) -> Bool {
        versions.contains { earlier.versions[$0.key] != $0.value }
    }
}
