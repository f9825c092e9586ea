import Foundation

/// What a program changed on its disk and has not synchronised, in the order of the changes. A value.
package struct UnsyncedChanges: Sendable {
    /// One change, with what it takes to undo it.
    package enum Change: Sendable, Codable, Hashable {
        /// Bytes of a file were written or cut off: its length before, and what stood at the place until then.
        case written(path: String, length: Int64, offset: Int64, bytes: Data)
        /// A file got another name; `replaced` is what had that name.
        case named(from: String, to: String, replaced: Data?)
        /// A file or folder was made.
        case made(path: String)

        /// The folder whose synchronisation makes it last; nil for bytes.
        fileprivate var folder: String? {
            switch self {
            case .written: nil
            case .named(_, let path, _), .made(let path): DurableFile.folder(of: path)
            }
        }
    }

    /// A line of the notes. A synchronisation holds for the changes with numbers below `before`: what was written while
    /// it was under way may have missed it.
    package enum Event: Sendable, Codable, Hashable {
        case changed(number: UInt64, Change)
        /// A file's bytes are on disk.
        case fileSynced(String, before: UInt64)
        /// The names in a folder are on disk.
        case folderSynced(String, before: UInt64)
        /// A file was removed for good.
        case gone(String)
    }

    /// A change with its number, which grows from change to change.
    package struct Numbered: Sendable, Hashable {
        package let number: UInt64
        package let change: Change
        /// The change's folder, found once: a farm of many slots has thousands of changes, all looked at for each
        /// synchronisation.
        fileprivate let folder: String?

        package init(number: UInt64, change: Change) {
            self.number = number
            self.change = change
            folder = change.folder
        }
    }

    /// Changes that could not be undone: the disk is in a state in which no power cut leaves it.
    package struct UndoFailure: Error, CustomStringConvertible {
        package let problems: [String]

        package var description: String { "cannot be taken back: \(problems.joined(separator: "; "))" }
    }

    package private(set) var all: [Numbered] = []

    package init() {}

    /// Takes in the next event.
    package mutating func apply(_ event: Event) {
        switch event {
        case .changed(let number, let change): all.append(Numbered(number: number, change: change))
        case .fileSynced(let path, let limit):
            all.removeAll { one in
                guard case .written(path, _, _, _) = one.change else { return false }
                return one.number < limit
            }
        case .folderSynced(let folder, let limit):
            settleNames(in: folder, before: limit)
            all.removeAll { $0.number < limit && $0.folder == folder }
        case .gone(let path):
            all.removeAll { one in
                switch one.change {
                case .written(path, _, _, _), .made(path): true
                default: false
                }
            }
        }
    }

    /// A name that lasts takes bytes along that do not, and the name before it is gone.
    private mutating func settleNames(in folder: String, before limit: UInt64) {
        for name in all where name.number < limit && name.folder == folder {
            guard case .named(let from, let to, _) = name.change else { continue }
            all = all.compactMap { one in
                guard one.number < name.number else { return one }
                switch one.change {
                case .made(from): return nil
                case .written(from, let length, let offset, let bytes):
                    return Numbered(
                        number: one.number,
                        change: .written(path: to, length: length, offset: offset, bytes: bytes)
                    )
                default: return one
                }
            }
        }
    }

    /// Undoes changes, the last one first, and keeps the earliest `kept`. Files that are not there any more are left out.
    /// Blocks.
    /// - Parameters:
    ///   - kept: how many of the changes reached the disk all the same.
    ///   - waitsForRoom: called when a full disk stands in the way; whether to try that change again.
    /// - Throws: `UndoFailure`, when all that can be undone is
    package func undo(keeping kept: Int, waitsForRoom: () -> Bool = { false }) throws {
        var problems: [String] = []
        for one in all.dropFirst(kept).reversed() {
            var isPending = true
            while isPending {
                isPending = false
                do {
                    try Self.undo(one.change)
                } catch let error as SystemError where error.code == ENOENT {
                    continue
                } catch let error as SystemError where error.code == ENOSPC && waitsForRoom() {
                    isPending = true
                } catch {
                    problems.append("\(error)")
                }
            }
        }
        if !problems.isEmpty { throw UndoFailure(problems: problems) }
    }

    private static func undo(_ change: Change) throws {
        switch change {
        case .written(let path, let length, let offset, let bytes):
            let file = try FileDescriptor(path: path, flags: O_WRONLY)
            // First what makes room.
            try retryingInterrupts("cut", path) { ftruncate(file.number, off_t(length)) }
            var done = 0
            while done < bytes.count {
                done += try retryingInterrupts("write back", path) {
                    bytes.dropFirst(done).withUnsafeBytes {
                        pwrite(file.number, $0.baseAddress, $0.count, off_t(offset) + off_t(done))
                    }
                }
            }
        case .named(let from, let to, let replaced):
            guard let replaced else {
                try retryingInterrupts("rename back", to) { rename(to, from) }
                return
            }
            // Beside it first: when there is no room nothing is undone in part.
            let other = to + ".taken-back"
            do {
                try FileDescriptor(path: other, flags: O_WRONLY | O_CREAT | O_TRUNC).write(replaced)
                try retryingInterrupts("rename back", to) { rename(to, from) }
            } catch {
                unlink(other)
                throw error
            }
            try retryingInterrupts("rename back", other) { rename(other, to) }
        case .made(let path):
            do {
                try FileManager.default.removeItem(atPath: path)
            } catch let error as CocoaError where error.code == .fileNoSuchFile || error.code == .fileReadNoSuchFile {
                return
            }
        }
    }
}
