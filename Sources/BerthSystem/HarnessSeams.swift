import Synchronization

/// What the fault harness puts between a program and its machine (bench/README.md): a disk that forgets, a clock that
/// jumps. Environment variables say so; programs refuse them outside the harness.
package struct HarnessSeams: Sendable, Hashable {
    /// Where the disk notes what is not synchronised; nil: the disk forgets nothing.
    package private(set) var notes: String?
    /// What the disk is told to synchronise it does not.
    package private(set) var skipsSync = false
    /// The file that says by how much the clock is off.
    package private(set) var clock: String?

    package init() {}

    /// Whether the program works for the harness.
    package static func isHarness(_ environment: [String: String]) -> Bool {
        environment["BERTH_FAULT_HARNESS"] == "1"
    }

    /// The hooks that the environment sets, by their names without prefix.
    package static func hooks(_ environment: [String: String]) -> [String: String] {
        let prefix = "BERTH_HOOK_"
        return environment.reduce(into: [:]) { hooks, variable in
            if variable.key.hasPrefix(prefix) { hooks[String(variable.key.dropFirst(prefix.count))] = variable.value }
        }
    }

    /// Takes in a hook.
    /// - Returns: false when it is none of these.
    package mutating func take(_ name: String, _ value: String) -> Bool {
        switch name {
        case "LOSSY_DISK": notes = value
        case "NO_SYNC": skipsSync = value == "1"
        case "CLOCK": clock = value
        default: return false
        }
        return true
    }

    /// Puts disk and clock in place, before anything is written.
    /// - Throws: `SystemError`
    package func begin() throws {
        if let notes { try LossyDisk.begin(notes: notes) }
        AppendFile.skipsSync.store(skipsSync, ordering: .relaxed)
        if let clock { try WallClock.follow(clock) }
    }
}
