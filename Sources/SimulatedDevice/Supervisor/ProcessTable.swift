import BerthSystem
import Foundation

/// Questions to the kernel about processes, through /proc.
enum ProcessTable {
    /// Parent and process group of a process; nil when it is gone.
    static func relations(of process: Int32) -> (parent: Int32, group: Int32)? {
        guard let file = try? FileDescriptor(path: "/proc/\(process)/stat", flags: O_RDONLY),
            let bytes = try? file.read(upTo: 4096),
            // The name in parentheses may itself hold parentheses and blanks.
            let end = bytes.lastIndex(of: UInt8(ascii: ")"))
        else { return nil }
        let fields = String(decoding: bytes[(end + 1)...], as: UTF8.self).split(separator: " ")
        guard fields.count > 2, let parent = Int32(fields[1]), let group = Int32(fields[2]) else { return nil }
        return (parent, group)
    }

    /// All processes.
    static func all() -> [Int32] {
        ((try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []).compactMap(Int32.init)
    }

    /// The children of a process.
    static func children(of process: Int32) -> [Int32] {
        all().filter { relations(of: $0)?.parent == process }
    }

    /// Kills what is left of the apps of a device whose supervisor is dead: processes whose environment names its
    /// keychain socket. Hold the supervisor's lock.
    static func endLeftovers(of folder: DeviceFolder) {
        let mark = Array("\(KeychainListener.variable)=\(folder.keychainSocket)".utf8)
        for process in all() where process != getpid() {
            guard environment(of: process).split(separator: 0).contains(where: { $0.elementsEqual(mark) }) else {
                continue
            }
            kill(process, SIGKILL)
            Log(component: "simulator").notice("A process of an earlier boot was ended", ["pid": "\(process)"])
        }
    }

    private static func environment(of process: Int32) -> [UInt8] {
        guard let file = try? FileDescriptor(path: "/proc/\(process)/environ", flags: O_RDONLY) else { return [] }
        var bytes: [UInt8] = []
        while let part = try? file.read(upTo: 1 << 16), !part.isEmpty, bytes.count < 1 << 22 { bytes += part }
        return bytes
    }
}
