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
            case .named(_, let path, _), .made(let path): LossyDisk.folder(of: path)
            }
        }
    }

    /// A line of the notes.
    package enum Event: Sendable, Codable, Hashable {
        case changed(Change)
        /// A file's bytes are on disk.
        case fileSynced(String)
        /// The names in a folder are on disk.
        case folderSynced(String)
        /// A file was removed for good.
        case gone(String)
    }

    package private(set) var all: [Change] = []

    package init() {}

    /// Takes in the next event.
    package mutating func apply(_ event: Event) {
        switch event {
        case .changed(let change): all.append(change)
        case .fileSynced(let path):
            all.removeAll { if case .written(path, _, _, _) = $0 { true } else { false } }
        case .folderSynced(let folder):
            // A name that lasts takes bytes along that do not.
            for case .named(let from, let to, _) in all where LossyDisk.folder(of: to) == folder {
                all = all.map { change in
                    guard case .written(from, let length, let offset, let bytes) = change else { return change }
                    return .written(path: to, length: length, offset: offset, bytes: bytes)
                }
            }
            all.removeAll { $0.folder == folder }
        case .gone(let path):
            all.removeAll { change in
                switch change {
                case .written(path, _, _, _), .made(path): true
                default: false
                }
            }
        }
    }

    /// Undoes changes, the last one first, and keeps the earliest `kept`. Files that are not there any more are left out.
    /// - Parameter kept: how many of the changes reached the disk all the same.
    package func undo(keeping kept: Int) {
        for change in all.dropFirst(kept).reversed() {
            switch change {
            case .written(let path, let length, let offset, let bytes):
                guard let file = try? FileDescriptor(path: path, flags: O_WRONLY) else { continue }
                bytes.withUnsafeBytes { _ = pwrite(file.number, $0.baseAddress, $0.count, off_t(offset)) }
                ftruncate(file.number, off_t(length))
            case .named(let from, let to, let replaced):
                rename(to, from)
                guard let replaced else { continue }
                try? replaced.write(to: URL(fileURLWithPath: to))
                chmod(to, 0o600)
            case .made(let path):
                try? FileManager.default.removeItem(atPath: path)
            }
        }
    }
}
