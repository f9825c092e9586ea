import BerthSystem
import Foundation

/// A stand-in device's own record of who touched it, which the fault harness judges by (bench/README.md). One line a
/// touch, each by one write at the end of the file. Lines are 128 bytes long: a kill cuts a write off between two pages of
/// the file, and no such line reaches into a second page.
struct TouchLog: Sendable {
    /// On whose behalf the device is touched.
    struct Holder: Sendable {
        let run: String
        let attempt: String
        let epoch: UInt64
    }

    /// Of a line, in bytes; divides every page's size.
    private static let length = 128

    private let file: FileDescriptor

    /// - Throws: `SystemError`
    init(path: String) throws {
        file = try FileDescriptor(path: path, flags: O_WRONLY | O_APPEND | O_CREAT)
    }

    /// Notes a touch that is over at once. `decided` is when the agent made up its mind, by `now`.
    /// - Throws: `SystemError`
    func touch(_ verb: String, _ holder: Holder, decided: Int64) throws {
        // The machine's own clock, whatever the agent's does.
        let wall = Self.nanoseconds(CLOCK_REALTIME) / 1_000_000
        let who = "\(holder.run) \(holder.attempt) \(holder.epoch)"
        let line = "\(Self.now) \(wall) \(getpid()) touch \(verb) \(who) \(decided)"
        let filling = String(repeating: " ", count: max(Self.length - 1 - line.utf8.count, 0))
        try file.write(Array("\(line)\(filling)\n".utf8))
    }

    /// CLOCK_MONOTONIC, in nanoseconds.
    static var now: Int64 { nanoseconds(CLOCK_MONOTONIC) }

    private static func nanoseconds(_ clock: clockid_t) -> Int64 {
        var moment = timespec()
        clock_gettime(clock, &moment)
        return Int64(moment.tv_sec) * 1_000_000_000 + Int64(moment.tv_nsec)
    }
}
