import BerthCore
import BerthSystem
import Foundation
import Synchronization

/// Reports of ended attempts with their evidence, kept on disk until the coordinator has acknowledged them. One that the
/// disk does not take is held in memory.
package final class PendingResults: Sendable {
    private struct Held {
        let report: AttemptReport
        let blobs: [Digest: [UInt8]]
    }

    private let folder: String
    private let held = Mutex<[String: Held]>([:])
    /// Longest report that is read back, in bytes.
    private static let reportLimit = Frame.payloadLimit
    /// Longest blob that is read back, in bytes.
    private static let blobLimit = 2 * EvidenceCollector.totalLimit

    /// - Parameter folder: made if it is not there.
    /// - Throws: `SystemError`
    package init(folder: String) throws {
        self.folder = folder
        try DurableFile.makeFolder(folder, lasting: true)
    }

    /// Keeps a report with its blobs, the evidence files and their manifest. The report's own file comes last, so that it
    /// is there only as a whole; one that is there already is replaced in one step. Blocks.
    /// - Throws: `SystemError`; an earlier report of the attempt then still stands, else nothing does.
    package func keep(_ report: AttemptReport, blobs: [Digest: [UInt8]]) throws {
        let place = place(report.attempt)
        let isFirst = access("\(place)/report.json", F_OK) != 0
        if isFirst { try Folders.remove(place) }
        do {
            try DurableFile.makeFolder(place, lasting: true)
            for (digest, bytes) in blobs where access("\(place)/\(digest.hex)", F_OK) != 0 {
                try DurableFile.replace("\(place)/\(digest.hex)", with: bytes)
            }
            try DurableFile.replace("\(place)/report.json", with: try CanonicalJSON.encode(report))
        } catch {
            // Half a result is of no use, and what it takes may be what is lacking.
            if isFirst { try? Folders.remove(place) }
            throw error
        }
        held.withLock { $0[report.attempt] = nil }
    }

    /// Holds a report that the disk does not take, until it is written or forgotten.
    package func hold(_ report: AttemptReport, blobs: [Digest: [UInt8]]) {
        held.withLock { $0[report.attempt] = Held(report: report, blobs: blobs) }
    }

    /// Writes a report that is held.
    /// - Throws: `SystemError`; it is then held as before.
    package func writeHeld(_ attempt: String) throws {
        guard let result = held.withLock({ $0[attempt] }) else { return }
        try keep(result.report, blobs: result.blobs)
    }

    /// The report of an attempt that is held in memory, or nil.
    package func held(_ attempt: String) -> AttemptReport? { held.withLock { $0[attempt]?.report } }

    /// The kept report of an attempt, or nil.
    /// - Throws: `SystemError`, `FormatError`
    package func report(_ attempt: String) throws -> AttemptReport? {
        if let report = held(attempt) { return report }
        do {
            let bytes = try DurableFile.read("\(place(attempt))/report.json", limit: Self.reportLimit)
            return try CanonicalJSON.decode(AttemptReport.self, from: bytes, document: "kept report of \(attempt)")
        } catch let error as SystemError where error.code == ENOENT {
            return nil
        }
    }

    /// A blob of a kept report. Blocks.
    /// - Throws: `SystemError`
    package func blob(_ digest: Digest, of attempt: String) throws -> [UInt8] {
        if let bytes = held.withLock({ $0[attempt]?.blobs[digest] }) { return bytes }
        return try DurableFile.read("\(place(attempt))/\(digest.hex)", limit: Self.blobLimit)
    }

    /// Forgets an attempt's report. Blocks.
    /// - Throws: `SystemError`
    package func forget(_ attempt: String) throws {
        held.withLock { $0[attempt] = nil }
        try Folders.remove(place(attempt))
    }

    /// Forgets reports that nobody waits for: a crash came between an acknowledgement and their removal.
    /// - Throws: `SystemError`
    package func forgetAll(besides attempts: Set<String>) throws {
        for name in Folders.names(in: folder) where !attempts.contains(name) { try forget(name) }
    }

    private func place(_ attempt: String) -> String { "\(folder)/\(attempt)" }
}
