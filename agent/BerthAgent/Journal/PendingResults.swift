import BerthCore
import BerthSystem
import Foundation
import Synchronization

/// Reports of ended attempts with their evidence, kept on disk until the coordinator has acknowledged them. One that the
/// disk does not take is held in memory.
///
/// They are appended to one file, since a file of its own for each result costs more than all else of a short attempt.
/// Which of them are still wanted is the journal's to say; what is not is left behind when the file is emptied.
package final class PendingResults: Sendable {
    private struct Contents {
        /// Nil after the file could not be written anew, until it has been opened again.
        var file: AppendFile?
        /// Where the wanted results lie.
        var places: [AttemptReference: Range<Int>] = [:]
        var held: [AttemptReference: KeptResult] = [:]
        /// The one that was written last, which is sent next: it need not be read again.
        var latest: KeptResult?
    }

    /// Longest record that is remembered until it is sent, in bytes.
    private static let latestLimit = 1 << 20
    /// Longest file that is read, in bytes.
    private static let readLimit = 1 << 30
    /// A file above this length is emptied of what nobody wants, in bytes.
    private static let tidyLength = 4 << 20
    private static let log = Log(component: "results")

    private let folder: String
    private let path: String
    private let contents: Mutex<Contents>

    /// Finds what an earlier agent has kept. Blocks.
    /// - Parameter folder: made if it is not there.
    /// - Throws: `SystemError`
    package init(folder: String) throws {
        self.folder = folder
        path = "\(folder)/log"
        try DurableFile.makeFolder(folder, lasting: true)
        contents = Mutex(Contents())
        try contents.withLock { contents in _ = try file(&contents, wanted: nil) }
    }

    /// Keeps a report with the evidence files and their manifest: all of it in one step, with one wait for the disk, in
    /// place of an earlier report of the attempt. Blocks.
    /// - Throws: `SystemError`; an earlier report of the attempt then still stands.
    package func keep(_ result: KeptResult) throws {
        try contents.withLock { try keep(result, &$0) }
    }

    private func keep(_ result: KeptResult, _ contents: inout Contents) throws {
        let bytes = try result.bytes
        let file = try file(&contents, wanted: Set(contents.places.keys))
        let start = file.length
        // An open file would take it too when its folder has been made read-only, or the file was taken away.
        guard access(path, W_OK) == 0 else { throw SystemError(operation: "write", path: path) }
        try file.append(bytes)
        contents.places[result.attempt] = start..<(start + bytes.count)
        contents.latest = bytes.count <= Self.latestLimit ? result : nil
        contents.held[result.attempt] = nil
    }

    /// Holds a report that the disk does not take, until it is written or forgotten.
    package func hold(_ result: KeptResult) {
        contents.withLock { $0.held[result.attempt] = result }
    }

    /// Writes a report that is held.
    /// - Throws: `SystemError`; it is then held as before.
    package func writeHeld(_ attempt: AttemptReference) throws {
        try contents.withLock { contents in
            guard let result = contents.held[attempt] else { return }
            try keep(result, &contents)
        }
    }

    /// The report of an attempt that is held in memory, or nil.
    package func held(_ attempt: AttemptReference) -> AttemptReport? { contents.withLock { $0.held[attempt]?.report } }

    /// What is kept or held of an attempt, or nil. Blocks.
    /// - Throws: `SystemError`, `FormatError`
    package func result(_ attempt: AttemptReference) throws -> KeptResult? {
        try contents.withLock { contents in
            if let result = contents.held[attempt] { return result }
            if let result = contents.latest, result.attempt == attempt { return result }
            guard let place = contents.places[attempt] else { return nil }
            return try KeptResult(try read(place), document: "kept result of \(attempt.attempt)")
        }
    }

    /// Nobody wants an attempt's report any more. The disk hears of it by the journal, and by `tidy`.
    package func forget(_ attempt: AttemptReference) {
        contents.withLock { contents in
            contents.held[attempt] = nil
            contents.places[attempt] = nil
            if contents.latest?.attempt == attempt { contents.latest = nil }
        }
    }

    /// Forgets what an earlier agent has left and nobody waits for.
    /// - Throws: `SystemError`
    package func forgetAll(besides attempts: Set<AttemptReference>) throws {
        contents.withLock { contents in
            contents.places = contents.places.filter { attempts.contains($0.key) }
            if let latest = contents.latest?.attempt, !attempts.contains(latest) { contents.latest = nil }
        }
        for name in Folders.names(in: folder) where name.hasSuffix(".partial") {
            try Folders.remove("\(folder)/\(name)")
        }
    }

    /// Whether the file is so long that `tidy` has something to do.
    package var isLong: Bool { contents.withLock { ($0.file?.length ?? 0) > Self.tidyLength } }

    /// Empties a long file of what nobody wants. The journal must have said on disk that nobody does. Blocks.
    /// - Throws: `SystemError`; nothing that is wanted is lost
    package func tidy() throws {
        try contents.withLock { contents in
            let wanted = Set(contents.places.keys)
            let file = try file(&contents, wanted: wanted)
            guard file.length > Self.tidyLength else { return }
            if wanted.isEmpty { return try file.cut(to: 0) }
            guard contents.places.values.reduce(0, { $0 + $1.count }) * 2 < file.length else { return }
            let bytes = try contents.places.values.sorted { $0.lowerBound < $1.lowerBound }.flatMap { try read($0) }
            // From here on the open file may no longer be the one at the path.
            contents.file = nil
            try DurableFile.replace(path, with: bytes)
            _ = try self.file(&contents, wanted: wanted)
        }
    }

    // MARK: The file

    /// The open file; after a rewriting, or at the start, it is read for what is wanted: nil stands for all.
    private func file(_ contents: inout Contents, wanted: Set<AttemptReference>?) throws -> AppendFile {
        if let file = contents.file { return file }
        let (places, length, problem) = try scan()
        if let problem {
            try setAside(places, problem)
            return try self.file(&contents, wanted: wanted)
        }
        let file = try AppendFile(path: path)
        if file.length > length {
            Self.log.notice(
                "the last result was not written to its end, so nobody relies on it: it is cut off",
                ["path": path, "bytes": "\(file.length - length)"]
            )
            try file.cut(to: length)
        }
        contents.places = places.filter { wanted?.contains($0.key) ?? true }
        contents.file = file
        return file
    }

    /// Leaves a damaged file under another name for whoever looks into it, and goes on with what is whole in it.
    private func setAside(_ places: [AttemptReference: Range<Int>], _ problem: String) throws {
        let bytes = try places.values.sorted { $0.lowerBound < $1.lowerBound }.flatMap { try read($0) }
        let aside = "\(path).damaged-\(Hex.encode(RandomBytes.make(4)))"
        try retryingInterrupts("name", aside) { link(path, aside) }
        try DurableFile.replace(path, with: bytes)
        Self.log.error(
            "kept results are damaged and cannot be sent; the file is set aside",
            ["path": path, "problem": problem, "aside": aside]
        )
    }

    /// Reads the whole file.
    /// - Returns: where the results lie, the later of two of one attempt; where the last whole one ends; and what no cut
    ///   that a crash makes explains.
    private func scan() throws -> (places: [AttemptReference: Range<Int>], length: Int, problem: String?) {
        let bytes: [UInt8]
        do {
            bytes = try DurableFile.read(path, limit: Self.readLimit)
        } catch let error as SystemError where error.code == ENOENT {
            return ([:], 0, nil)
        }
        var places: [AttemptReference: Range<Int>] = [:]
        var place = 0
        var problem: String?
        do {
            while place < bytes.count {
                // One that ends early was under way.
                guard let outline = try KeptResult.outline(bytes, at: place, document: path) else { break }
                if let damage = KeptResult.damage(bytes, outline) {
                    // So was the last one, if its bytes are not there; of any other it was once said that they are.
                    if outline.range.upperBound == bytes.count { break }
                    problem = damage
                } else {
                    places[outline.attempt] = outline.range
                }
                place = outline.range.upperBound
            }
        } catch {
            if !bytes[place...].allSatisfy({ $0 == 0 }) { problem = "\(error)" }
        }
        return (places, place, problem)
    }

    private func read(_ place: Range<Int>) throws -> [UInt8] {
        let file = try FileDescriptor(path: path, flags: O_RDONLY)
        var bytes: [UInt8] = []
        while bytes.count < place.count {
            let offset = UInt64(place.lowerBound + bytes.count)
            let part = try file.read(upTo: place.count - bytes.count, at: offset)
            if part.isEmpty { throw SystemError(operation: "read", path: path, code: EIO) }
            bytes += part
        }
        return bytes
    }
}
