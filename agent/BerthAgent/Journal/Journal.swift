import BerthCore
import BerthSystem
import Foundation
import Synchronization

/// An agent's memory: a file of JSON lines that only grows, on disk before anything is done or told.
///
/// Each line holds a record, its number and the start of a digest over both. A last line without its end is a write
/// that a crash cut off: it is dropped. Any other difference from what was written is `JournalError.damaged`.
package final class Journal: Sendable {
    private struct Line: Codable {
        struct Body: Codable {
            let number: UInt64
            let entry: JournalRecord
        }

        let body: Body
        let check: String
    }

    private struct Contents {
        var file: AppendFile
        var state: JournalState
        var next: UInt64
        var size: Int
    }

    private static let log = Log(component: "journal")
    /// Longest journal that is read, in bytes.
    static let readLimit = 256 << 20
    /// A journal above this size is compacted when nothing is running, in bytes.
    private static let compactionSize = 1 << 20

    /// Where the journal lies.
    package let path: String
    private let contents: Mutex<Contents>

    /// Reads the journal, or makes a new one. Blocks.
    /// - Throws: `JournalError`, `SystemError`
    package init(path: String) throws {
        self.path = path
        let (state, next, size) = try Self.read(path)
        if size >= 0 {
            try retryingInterrupts("cut", path) { truncate(path, off_t(size)) }
        }
        contents = Mutex(Contents(file: try AppendFile(path: path), state: state, next: next, size: max(size, 0)))
    }

    /// What the records add up to.
    package var state: JournalState { contents.withLock { $0.state } }

    /// The process groups that a journal names as started and not ended, without changing the file; none when it
    /// cannot be read.
    package static func leftovers(path: String) -> [ProcessIdentity] {
        (try? read(path))?.0.processes ?? []
    }

    /// Adds a record; it is on disk when this returns. Blocks.
    /// - Throws: `JournalError.unwritable`; the record then does not count.
    package func append(_ record: JournalRecord) throws {
        try contents.withLock { contents in
            do {
                let bytes = try Self.line(contents.next, record)
                try contents.file.append(bytes)
                contents.next += 1
                contents.size += bytes.count
            } catch {
                // Part of the line may stand there; the next one must not continue it.
                truncate(path, off_t(contents.size))
                throw JournalError.unwritable(path: path, problem: "\(error)")
            }
            contents.state.apply(record)
            if contents.size > Self.compactionSize { compact(&contents) }
        }
    }

    /// Replaces a long journal by what it says, if nothing is running. A failure leaves the long one.
    private func compact(_ contents: inout Contents) {
        guard let snapshot = contents.state.snapshot else { return }
        do {
            let bytes = try Self.line(contents.next, snapshot)
            try DurableFile.replace(path, with: bytes)
            contents.next += 1
            contents.size = bytes.count
            contents.file = try AppendFile(path: path)
        } catch {
            Self.log.error("the journal cannot be compacted", ["path": path, "error": "\(error)"])
        }
    }

    private static func line(_ number: UInt64, _ record: JournalRecord) throws -> [UInt8] {
        let body = Line.Body(number: number, entry: record)
        return try CanonicalJSON.encode(Line(body: body, check: check(body))) + [10]
    }

    private static func check(_ body: Line.Body) throws -> String {
        String(Hex.encode(SHA256.digest(of: try CanonicalJSON.encode(body))).prefix(16))
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
            let line: Line
            do {
                line = try CanonicalJSON.decode(Line.self, from: text, document: "the line")
            } catch {
                throw damaged("\(error)")
            }
            guard try check(line.body) == line.check else { throw damaged("its digest does not match its content") }
            guard line.body.number == next || index == 0 && line.body.entry.isSnapshot else {
                throw damaged("it has the number \(line.body.number) where \(next) comes next: lines are missing")
            }
            next = line.body.number + 1
            state.apply(line.body.entry)
        }
        return (state, next, whole)
    }
}
