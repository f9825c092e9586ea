import BerthSystem
import Foundation

/// A process that a reused process ID cannot be mistaken for: its ID and when the kernel started it.
package struct ProcessIdentity: Sendable, Hashable, Codable, CustomStringConvertible {
    package let pid: Int32
    /// The kernel's word for the start, with the boot that it belongs to; only compared.
    package let start: String

    package init(pid: Int32, start: String) {
        self.pid = pid
        self.start = start
    }

    /// The process with this ID now, or nil when there is none. A zombie has an identity, but does not run.
    package init?(running pid: Int32) {
        guard pid > 1, let found = Self.look(pid) else { return nil }
        self.pid = pid
        start = found.start
    }

    /// Whether this very process exists and is more than a zombie.
    package var isRunning: Bool {
        guard let found = Self.look(pid) else { return false }
        return found.start == start && !found.isZombie
    }

    /// Whether the process exists at all, be it as a zombie that still leads its group.
    package var exists: Bool { Self.look(pid)?.start == start }

    /// Whether this process was started before another one of the same boot.
    package func isOlder(than other: ProcessIdentity) -> Bool {
        guard let own = Self.moment(start), let others = Self.moment(other.start) else { return false }
        return own < others
    }

    private static func moment(_ start: String) -> Double? {
        start.split(separator: ":").last.flatMap { Double($0) }
    }

    package var description: String { "process \(pid)" }

    /// What the kernel says about a process.
    struct Appearance {
        let start: String
        let isZombie: Bool
    }

    #if os(Linux)
        /// Distinguishes boots, since start times count from the boot.
        private static let boot: String = {
            let text = (try? KernelFile.read("/proc/sys/kernel/random/boot_id")) ?? ""
            return String(text.prefix(8))
        }()

        static func look(_ pid: Int32) -> Appearance? {
            guard let text = try? KernelFile.read("/proc/\(pid)/stat"), let name = text.lastIndex(of: ")") else {
                return nil
            }
            // After the name: state, then 18 fields, then the start in ticks since boot.
            let fields = text[text.index(after: name)...].split(separator: " ")
            guard fields.count > 19 else { return nil }
            return Appearance(start: "\(boot):\(fields[19])", isZombie: fields[0] == "Z" || fields[0] == "X")
        }
    #endif
}

#if os(Linux)
    /// Small files of the kernel, whose size is not known beforehand.
    enum KernelFile {
        static func read(_ path: String) throws -> String {
            let file = try FileDescriptor(path: path, flags: O_RDONLY)
            return try String(decoding: file.read(upTo: 8192), as: UTF8.self)
        }
    }
#endif
