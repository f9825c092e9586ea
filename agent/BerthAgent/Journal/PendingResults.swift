import BerthCore
import BerthSystem
import Foundation
import Synchronization

/// Reports of ended attempts with their evidence, kept on disk until the coordinator has acknowledged them. One that the
/// disk does not take is held in memory.
package final class PendingResults: Sendable {
    private let folder: String
    private let held = Mutex<[String: KeptResult]>([:])
    /// The one that was written last, which is sent next: it need not be read again.
    private let latest = Mutex<KeptResult?>(nil)
    private static let ending = ".result"
    /// Longest file that is remembered until it is sent, in bytes.
    private static let latestLimit = 1 << 20
    /// Longest file that is read back, in bytes.
    private static let limit = Frame.payloadLimit + 2 * EvidenceCollector.totalLimit

    /// - Parameter folder: made if it is not there.
    /// - Throws: `SystemError`
    package init(folder: String) throws {
        self.folder = folder
        try DurableFile.makeFolder(folder, lasting: true)
    }

    /// Keeps a report with its blobs, the evidence files and their manifest: all of it in one step, with one wait for the
    /// disk, in place of an earlier report of the attempt. Blocks.
    /// - Throws: `SystemError`; an earlier report of the attempt then still stands.
    package func keep(_ report: AttemptReport, blobs: [Digest: [UInt8]]) throws {
        try keep(KeptResult(report: report, blobs: blobs))
    }

    private func keep(_ result: KeptResult) throws {
        let bytes = try result.bytes
        try DurableFile.replace(place(result.report.attempt), with: bytes)
        latest.withLock { $0 = bytes.count <= Self.latestLimit ? result : nil }
        held.withLock { $0[result.report.attempt] = nil }
    }

    /// Holds a report that the disk does not take, until it is written or forgotten.
    package func hold(_ report: AttemptReport, blobs: [Digest: [UInt8]]) {
        held.withLock { $0[report.attempt] = KeptResult(report: report, blobs: blobs) }
    }

    /// Writes a report that is held.
    /// - Throws: `SystemError`; it is then held as before.
    package func writeHeld(_ attempt: String) throws {
        guard let result = held.withLock({ $0[attempt] }) else { return }
        try keep(result)
    }

    /// The report of an attempt that is held in memory, or nil.
    package func held(_ attempt: String) -> AttemptReport? { held.withLock { $0[attempt]?.report } }

    /// What is kept or held of an attempt, or nil. Blocks.
    /// - Throws: `SystemError`, `FormatError`
    package func result(_ attempt: String) throws -> KeptResult? {
        if let result = held.withLock({ $0[attempt] }) { return result }
        if let result = latest.withLock({ $0 }), result.report.attempt == attempt { return result }
        do {
            let bytes = try DurableFile.read(place(attempt), limit: Self.limit)
            return try KeptResult(bytes, document: "kept result of \(attempt)")
        } catch let error as SystemError where error.code == ENOENT {
            return nil
        }
    }

    /// Forgets an attempt's report. Blocks.
    /// - Throws: `SystemError`
    package func forget(_ attempt: String) throws {
        held.withLock { $0[attempt] = nil }
        latest.withLock { if $0?.report.attempt == attempt { $0 = nil } }
        let place = place(attempt)
        guard unlink(place) != 0, errno != ENOENT else { return }
        throw SystemError(operation: "remove", path: place)
    }

    /// Forgets reports that nobody waits for: a crash came between an acknowledgement and their removal, or while one was
    /// being written.
    /// - Throws: `SystemError`
    package func forgetAll(besides attempts: Set<String>) throws {
        let wanted = Set(attempts.map { $0 + Self.ending })
        for name in Folders.names(in: folder) where !wanted.contains(name) { try Folders.remove("\(folder)/\(name)") }
    }

    private func place(_ attempt: String) -> String { "\(folder)/\(attempt)\(Self.ending)" }
}
