import BerthCore
import BerthSystem
import Foundation
import Synchronization

/// A slot's state folder as something that has to take what an attempt writes: asked before one begins and while it runs.
package final class StateFolder: Sendable {
    private struct State {
        /// A write that has failed, until one succeeds.
        var trouble: DiskTrouble?
        var nextTry = ContinuousClock.now
        /// When all folders were looked at last and found well, and which lie on file systems of their own.
        var looked: (ContinuousClock.Instant, mounts: [String])?
        /// When the folder took something last.
        var written: ContinuousClock.Instant?
    }

    /// So many bytes must be free: evidence may take a quarter of it, the rest is for bundles and the device.
    package static let minimum: Int64 = 32 << 20
    /// How long after a write that failed another is tried.
    private static let pause: Duration = .seconds(1)
    /// For how long a look at all folders holds.
    private static let thoroughness: Duration = .milliseconds(250)
    private static let log = Log(component: "state")

    /// Where it lies.
    package let path: String
    private let journal: Journal
    private let state = Mutex(State())

    /// - Parameters:
    ///   - path: the folder, which is there.
    ///   - journal: the slot's memory, which may be behind.
    package init(path: String, journal: Journal) {
        self.path = path
        self.journal = journal
    }

    /// A write in the folder has failed: until one succeeds, the folder takes nothing.
    package func note(_ error: any Error) {
        let trouble = DiskTrouble(error)
        state.withLock { state in
            if state.trouble == nil { Self.log.error("the state folder takes nothing", ["cause": "\(trouble)"]) }
            state.trouble = trouble
            state.nextTry = .now + Self.pause
        }
    }

    /// Why the folder takes nothing more at present, or nil. Blocks for as long as a small file takes.
    package func trouble() -> DiskTrouble? {
        state.withLock { state in
            if let trouble = look(&state) { return trouble }
            guard let trouble = state.trouble ?? (journal.isStuck ? DiskTrouble(Behind(path: journal.path)) : nil)
            else { return nil }
            guard ContinuousClock.now >= state.nextTry else { return trouble }
            // A quota or a broken disk shows only when something is written.
            state.trouble = trouble
            state.nextTry = .now + Self.pause
            do {
                try write(&state)
                try journal.catchUp()
                Self.log.notice("the state folder can be written again", ["path": path])
                state.trouble = nil
            } catch {
                state.trouble = DiskTrouble(error)
            }
            return state.trouble
        }
    }

    /// Looks at the folders, at most four times a second at all of them, and in between at their room: an attempt asks
    /// before each of its steps.
    private func look(_ state: inout State) -> DiskTrouble? {
        if let (time, mounts) = state.looked, ContinuousClock.now - time < Self.thoroughness {
            return Self.refusal(path) ?? mounts.lazy.compactMap { Self.shortage($0) }.first
        }
        let (trouble, mounts) = Self.lookThoroughly(path)
        state.looked = trouble == nil ? (.now, mounts) : nil
        return trouble
    }

    /// Writes something, to see whether the folder takes it, unless it did within the last second: where attempts are short,
    /// files that are made and removed for each of them cost more than all else. Blocks.
    /// - Returns: why it does not, or nil.
    package func probe() -> DiskTrouble? {
        do {
            return try state.withLock { state in
                if let written = state.written, ContinuousClock.now - written < Self.pause { return Self.look(path) }
                try write(&state)
                return nil
            }
        } catch {
            note(error)
            return DiskTrouble(error)
        }
    }

    private func write(_ state: inout State) throws {
        let probe = "\(path)/probe"
        // One that a crash left is no file that the folder takes.
        unlink(probe)
        defer { unlink(probe) }
        let file = try FileDescriptor(path: probe, flags: O_WRONLY | O_CREAT | O_EXCL)
        do {
            try file.write([UInt8](repeating: 0, count: 1 << 16))
            try file.synchronize()
        } catch let error as SystemError {
            throw SystemError(operation: error.operation, path: probe, code: error.code)
        }
        state.written = .now
    }

    /// The journal has not been written to its end.
    private struct Behind: Error, CustomStringConvertible {
        let path: String
        var description: String { "the journal \(path) could not be written" }
    }

    /// Looks at the folders of a slot's state without writing.
    /// - Returns: why one of them takes nothing, or nil. What is not there is passed over.
    package static func look(_ path: String) -> DiskTrouble? { lookThoroughly(path).trouble }

    /// Likewise, with those of the folders that lie on file systems of their own.
    private static func lookThoroughly(_ path: String) -> (trouble: DiskTrouble?, mounts: [String]) {
        for place in ["", "/results", "/preserved", "/work", "/bundles", "/devices", "/journal"].map({ path + $0 }) {
            if let trouble = refusal(place) { return (trouble, []) }
        }
        // A folder may be a mount of its own.
        var seen: Set<dev_t> = []
        var mounts: [String] = []
        for place in [path, path + "/results", path + "/work", path + "/bundles", path + "/devices"] {
            var status = stat()
            guard stat(place, &status) == 0, seen.insert(status.st_dev).inserted else { continue }
            mounts.append(place)
            if let trouble = shortage(place) { return (trouble, mounts) }
        }
        return (nil, mounts)
    }

    private static func refusal(_ place: String) -> DiskTrouble? {
        guard access(place, W_OK) != 0, errno != ENOENT else { return nil }
        return DiskTrouble(SystemError(operation: "write", path: place))
    }

    private static func shortage(_ place: String) -> DiskTrouble? {
        let room = DiskRoom(at: place)
        if room.free < minimum { return DiskTrouble(free: room.free, of: minimum, at: place) }
        guard room.hasNoNamesLeft else { return nil }
        return DiskTrouble(SystemError(operation: "make a file", path: place, code: ENOSPC))
    }

    /// Makes the folder, and makes sure that it can be written.
    /// - Throws: `AgentFailure` of status `disk`
    package static func require(_ path: String) throws {
        do {
            try DurableFile.makeFolder(path, lasting: true)
            guard access(path, R_OK | W_OK | X_OK) == 0 else { throw SystemError(operation: "use", path: path) }
            guard access(path + "/journal", R_OK | W_OK) == 0 || errno == ENOENT else {
                throw SystemError(operation: "write", path: path + "/journal")
            }
        } catch {
            throw AgentFailure(.disk, "\(DiskTrouble(error)), then start the agent again")
        }
    }
}
