import BerthSystem
import Foundation

/// What a process has used so far, as the kernel counts it.
struct ProcessUsage: Sendable {
    /// Processor time in seconds, of all threads.
    let processor: Double
    /// Resident memory in MiB.
    let resident: Double

    init(_ pid: Int32) throws {
        let stat = String(decoding: try DurableFile.read("/proc/\(pid)/stat", limit: 4096), as: UTF8.self)
        // The name in brackets may hold spaces; user and system time are the 12th and 13th fields after it.
        let fields = stat[(stat.lastIndex(of: ")") ?? stat.startIndex)...].split(separator: " ")
        guard fields.count > 13, let user = Double(fields[12]), let system = Double(fields[13]) else {
            throw BenchFailure("/proc/\(pid)/stat cannot be read")
        }
        processor = (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
        let status = String(decoding: try DurableFile.read("/proc/\(pid)/status", limit: 1 << 16), as: UTF8.self)
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
        guard let kibibytes = line?.split(separator: " ").dropFirst().first.flatMap({ Double($0) }) else {
            throw BenchFailure("/proc/\(pid)/status has no VmRSS")
        }
        resident = kibibytes / 1024
    }
}
