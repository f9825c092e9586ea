import BerthSystem
import Foundation

/// The kernel lock that makes one agent the only one on its device. Children for device work inherit its descriptor,
/// so what a dead agent left running still holds it.
package enum DeviceLock {
    /// Where the lock of a slot's device set lies.
    package static func path(inSet folder: String) -> String { folder + "/device.lock" }

    /// Takes the lock. When its holder is dead, the process groups that the holder journaled (`leftovers`, by their
    /// leaders) are ended first, for which they get `patience`. Blocks.
    /// - Throws: `AgentFailure` that names the holder.
    package static func acquire(
        path: String,
        slot: String,
        leftovers: [ProcessIdentity],
        patience: Duration = .seconds(10)
    ) throws -> FileLock {
        let deadline = ContinuousClock.now + patience
        while true {
            do {
                return try FileLock.acquire(path: path, holder: holderLine(slot: slot))
            } catch FileLockError.held(_, let line) {
                if let holder = holder(line), holder.isRunning {
                    throw AgentFailure(
                        .deviceHeld,
                        "the device is held by another process: \(line); lock: \(path); end that one first"
                    )
                }
                if isManual(line) {
                    // What a person started is theirs to end.
                    let left = LockHolders.of(path).map(String.init).joined(separator: ", ")
                    throw AgentFailure(
                        .deviceHeld,
                        "the device is held by what a person's shell started (\(line)); lock: \(path); end "
                            + (left.isEmpty ? "it first" : "these processes first: \(left)")
                    )
                }
                for group in leftovers where group.exists { kill(-group.pid, SIGKILL) }
                for process in LockHolders.of(path) { kill(process, SIGKILL) }
                guard ContinuousClock.now < deadline else {
                    throw AgentFailure(
                        .deviceHeld,
                        "the device is held by what a dead agent left behind (\(line)); find the processes that have "
                            + "\(path) open and end them"
                    )
                }
                usleep(50_000)
            }
        }
    }

    /// What a holder writes into the file; `isManual` for a person's shell.
    package static func holderLine(slot: String, isManual: Bool = false) -> String {
        let own = ProcessIdentity(running: getpid())
        return "pid \(getpid()), slot \(slot), since \(Timestamp.now().text), start \(own?.start ?? "unknown")"
            + (isManual ? manualMark : "")
    }

    private static let manualMark = ", work manual"

    private static func isManual(_ line: String) -> Bool { line.hasSuffix(manualMark) }

    /// The process that a holder's line names.
    static func holder(_ line: String) -> ProcessIdentity? {
        var values: [Substring: Substring] = [:]
        for part in line.split(separator: ",") {
            let words = part.split(separator: " ", maxSplits: 1)
            if words.count == 2 { values[words[0]] = words[1] }
        }
        guard let pid = values["pid"].flatMap({ Int32($0) }), let start = values["start"] else { return nil }
        return ProcessIdentity(pid: pid, start: String(start))
    }
}
