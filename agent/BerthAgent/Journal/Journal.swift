import BerthCore
import BerthSystem
import Foundation
import Synchronization

/// An agent's memory: a file of JSON lines that only grows, on disk before anything is done or told.
///
/// Each line holds a record, its number and the start of a digest over both. A last line without its end is a write
/// that a crash or a full disk cut off: it is dropped. Any other difference from what was written is
/// `JournalError.damaged`. Before an attempt begins the journal takes room for all that will be said of it, so that an
/// attempt that has begun comes to its end on a full disk too.
package final class Journal: Sendable {
    private struct Body: Codable {
        let number: UInt64
        let entry: JournalRecord
    }

    private struct Contents {
        /// Nil after a compaction that failed, until the path has been opened anew.
        var file: AppendFile?
        var state: JournalState
        var next: UInt64
        var size: Int
        /// What has happened and is not written yet; it goes before anything else.
        var owed: [JournalRecord] = []
        /// Writing that has failed.
        var isStuck = false
    }

    private static let log = Log(component: "journal")
    /// Longest journal that is read, in bytes.
    static let readLimit = 256 << 20
    /// A journal above this size is compacted when nothing is running, in bytes.
    private static let compactionSize = 1 << 20
    /// Taken on the disk for what an attempt may add, in bytes.
    package static let attemptRoom = 128 << 10

    /// Where the journal lies.
    package let path: String
    private let contents: Mutex<Contents>

    /// Reads the journal, or makes a new one. Blocks.
    /// - Throws: `JournalError`, `SystemError`
    package init(path: String) throws {
        self.path = path
        let found = try Self.open(path)
        contents = Mutex(Contents(file: found.file, state: found.state, next: found.next, size: found.size))
    }

    /// Opens the file for appending after its last whole line.
    private static func open(_ path: String) throws -> (file: AppendFile, state: JournalState, next: UInt64, size: Int)
    {
        let (state, next, size) = try read(path)
        var status = stat()
        if size >= 0, stat(path, &status) == 0, Int(status.st_size) > size {
            log.notice(
                "the journal's last line was never finished, so nobody relies on it: it is cut off",
                ["path": path, "bytes": "\(Int(status.st_size) - size)"]
            )
            try retryingInterrupts("cut", path) { truncate(path, off_t(size)) }
        }
        return (try AppendFile(path: path), state, next, max(size, 0))
    }

    /// What the records add up to.
    package var state: JournalState { contents.withLock { $0.state } }

    /// What a journal says, without changing the file. Blocks.
    /// - Throws: `JournalError`, `SystemError`
    package static func state(path: String) throws -> JournalState { try read(path).0 }

    /// The process groups that a journal names as started and not ended, without changing the file; none when it
    /// cannot be read.
    package static func leftovers(path: String) -> [ProcessIdentity] {
        (try? state(path: path))?.processes ?? []
    }

    /// Adds a record; it is on disk when this returns, or outlives the agent where that is all it is for. Blocks.
    /// - Throws: `JournalError.unwritable`; the record then does not count.
    package func append(_ record: JournalRecord) throws {
        try contents.withLock { contents in
            do {
                if case .assignment = record { try file(&contents).reserve(Self.attemptRoom) }
                try settle(&contents, and: record)
            } catch {
                throw JournalError.unwritable(path: path, trouble: DiskTrouble(error))
            }
            contents.state.apply(record)
            compactIfLong(&contents)
        }
    }

    /// Takes in what has happened already and does no harm when a crash forgets it. It counts at once, and is on disk when
    /// this returns or as soon as it can be; with the next record, if that is soon enough. Blocks.
    package func remember(_ record: JournalRecord, withNext: Bool = false) {
        contents.withLock { contents in
            contents.state.apply(record)
            contents.owed.append(record)
            if withNext { return }
            let wasStuck = contents.isStuck
            do {
                try settle(&contents)
                compactIfLong(&contents)
            } catch {
                // Said once, not for each record that follows.
                if wasStuck { return }
                Self.log.error("the journal is behind", ["path": path, "error": "\(error)"])
            }
        }
    }

    /// Whether something that counts could not be written.
    package var isStuck: Bool { contents.withLock { $0.isStuck } }

    /// Whether the journal is to be replaced by what it says, as soon as nothing is running.
    package var isLong: Bool { contents.withLock { $0.size > Self.compactionSize } }

    /// Writes what counts and is not written yet, and replaces a long journal by what it says. Blocks.
    /// - Throws: `SystemError` while it cannot.
    package func catchUp() throws {
        try contents.withLock { contents in
            try settle(&contents)
            compactIfLong(&contents)
        }
    }

    /// Writes all that is owed, and one more record if there is one, in one step.
    private func settle(_ contents: inout Contents, and record: JournalRecord? = nil) throws {
        let records = contents.owed + (record.map { [$0] } ?? [])
        guard !records.isEmpty else { return }
        do {
            let file = try file(&contents)
            var bytes: [UInt8] = []
            var next = contents.next
            for record in records {
                bytes += try Self.line(next, record)
                next += 1
            }
            try file.append(bytes, waits: records.contains { !$0.endsWithTheMachine })
            contents.next = next
            contents.size += bytes.count
            contents.owed = []
            contents.isStuck = false
        } catch {
            contents.isStuck = !contents.owed.isEmpty
            throw error
        }
    }

    private func file(_ contents: inout Contents) throws -> AppendFile {
        if let file = contents.file { return file }
        let found = try Self.open(path)
        contents.file = found.file
        contents.next = found.next
        contents.size = found.size
        return found.file
    }

    /// Replaces a long journal by what it says, if nothing is running. A failure leaves the long one, or the short one.
    private func compactIfLong(_ contents: inout Contents) {
        guard contents.size > Self.compactionSize, contents.owed.isEmpty, let snapshot = contents.state.snapshot else {
            return
        }
        do {
            let bytes = try Self.line(contents.next, snapshot)
            // From here on the open file may no longer be the journal.
            contents.file = nil
            try DurableFile.replace(path, with: bytes)
            _ = try file(&contents)
        } catch {
            Self.log.error("the journal cannot be compacted", ["path": path, "error": "\(error)"])
        }
    }

    private static func line(_ number: UInt64, _ record: JournalRecord) throws -> [UInt8] {
        try CheckedLine.bytes(Body(number: number, entry: record)) + [10]
    }

    /// The state, the next number, and the length of the whole lines; -1 without a file.
    private static func read(_ path: String) throws -> (JournalState, UInt64, Int) {
        let bytes: [UInt8]
        do {
            bytes = try DurableFile.read(path, limit: readLimit)
        } catch let error as SystemError where error.code == ENOENT {
            return (JournalState(), 1, -1)
        } catch let error as SystemError where error.code == EFBIG {
            throw JournalError.oversized(path: path)
        }
        var state = JournalState()
        var next: UInt64 = 1
        let whole = bytes.lastIndex(of: 10).map { $0 + 1 } ?? 0
        let lines = whole == 0 ? [] : bytes[..<(whole - 1)].split(separator: 10, omittingEmptySubsequences: false)
        for (index, text) in lines.enumerated() {
            func damaged(_ problem: String) -> JournalError {
                .damaged(path: path, line: index + 1, problem: problem)
            }
            let line: CheckedLine<Body>
            do {
                line = try CanonicalJSON.decode(CheckedLine<Body>.self, from: text, document: "the line")
            } catch {
                throw damaged("\(error)")
            }
            guard try line.isRight else {
                throw damaged("its digest does not match its content")
            }
            guard line.body.number == next || index == 0 && line.body.entry.isSnapshot else {
                throw damaged("it has the number \(line.body.number) where \(next) comes next: lines are missing")
            }
            next = line.body.number + 1
            state.apply(line.body.entry)
        }
        return (state, next, whole)
    }
}
