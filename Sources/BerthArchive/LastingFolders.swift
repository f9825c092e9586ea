import BerthSystem
import Synchronization

/// Folders that this process has waited for until they were on disk. Who finds a folder that another process, or another
/// thread, has just made cannot know whether that one has waited already.
final class LastingFolders: Sendable {
    private let known = Mutex(Set<String>())

    /// Makes a folder if it is not there, and waits until it lasts unless that was done before.
    /// - Throws: `SystemError`
    func make(_ path: String) throws {
        guard !known.withLock({ $0.contains(path) }) else { return }
        try DurableFile.makeFolder(path)
        try DurableFile.synchronizeFolder(of: path)
        known.withLock { _ = $0.insert(path) }
    }

    /// Looks at every folder anew.
    func forget() { known.withLock { $0 = [] } }
}
