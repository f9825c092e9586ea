import BerthSystem
import Foundation

/// Finds the processes that hold a kernel lock by a descriptor that they inherited: what a dead agent left running,
/// even if it died before it could journal it. Only Linux tells; elsewhere the journal has to do.
enum LockHolders {
    /// IDs of processes with a descriptor that holds the lock on a file. A process that only tries has none, and an agent
    /// is left out: it may have taken the lock just now.
    static func of(_ path: String) -> [Int32] {
        #if os(Linux)
            var file = stat()
            guard stat(path, &file) == 0 else { return [] }
            return Folders.names(in: "/proc").compactMap { Int32($0) }.filter { pid in
                !isAgent(pid)
                    && Folders.names(in: "/proc/\(pid)/fd").contains { number in
                        var status = stat()
                        guard stat("/proc/\(pid)/fd/\(number)", &status) == 0, status.st_dev == file.st_dev,
                            status.st_ino == file.st_ino
                        else { return false }
                        return ((try? KernelFile.read("/proc/\(pid)/fdinfo/\(number)")) ?? "").contains("FLOCK")
                    }
            }
        #else
            return []
        #endif
    }

    #if os(Linux)
        private static func isAgent(_ pid: Int32) -> Bool {
            let program = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(pid)/exe")
            return program?.split(separator: "/").last?.hasPrefix("berth-agent") ?? false
        }
    #endif
}
