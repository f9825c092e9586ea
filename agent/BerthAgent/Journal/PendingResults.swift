import BerthCore
import BerthSystem
import Foundation

/// Reports of ended attempts with their evidence, kept on disk until the coordinator has acknowledged them.
package struct PendingResults: Sendable {
    private let folder: String
    /// Longest report that is read back, in bytes.
    private static let reportLimit = Frame.payloadLimit

    /// - Parameter folder: made if it is not there.
    /// - Throws: `SystemError`
    package init(folder: String) throws {
        self.folder = folder
        try DurableFile.makeFolder(folder, lasting: true)
    }

    /// Keeps a report with its blobs, the evidence files and their manifest. The report's own file comes last, so that it
    /// is there only as a whole; one that is there already is replaced in one step. Blocks.
    /// - Throws: `SystemError`
    package func keep(_ report: AttemptReport, blobs: [Digest: [UInt8]]) throws {
        let place = place(report.attempt)
        if access("\(place)/report.json", F_OK) != 0 { try Folders.remove(place) }
        try DurableFile.makeFolder(place, lasting: true)
        for (digest, bytes) in blobs where access("\(place)/\(digest.hex)", F_OK) != 0 {
            try DurableFile.replace("\(place)/\(digest.hex)", with: bytes)
        }
        try DurableFile.replace("\(place)/report.json", with: try CanonicalJSON.encode(report))
    }

    /// The kept report of an attempt, or nil.
    /// - Throws: `SystemError`, `FormatError`
    package func report(_ attempt: String) throws -> AttemptReport? {
        do {
            let bytes = try DurableFile.read("\(place(attempt))/report.json", limit: Self.reportLimit)
            return try CanonicalJSON.decode(AttemptReport.self, from: bytes, document: "kept report of \(attempt)")
        } catch let error as SystemError where error.code == ENOENT {
            return nil
        }
    }

    /// Opens a blob of a kept report for reading in parts.
    /// - Throws: `SystemError`
    package func open(_ digest: Digest, of attempt: String) throws -> FileDescriptor {
        try FileDescriptor(path: "\(place(attempt))/\(digest.hex)", flags: O_RDONLY)
    }

    /// Forgets an attempt's report. Blocks.
    /// - Throws: `SystemError`
    package func forget(_ attempt: String) throws {
        try Folders.remove(place(attempt))
    }

    /// Forgets reports that nobody waits for: a crash came between an acknowledgement and their removal.
    /// - Throws: `SystemError`
    package func forgetAll(besides attempts: Set<String>) throws {
        for name in Folders.names(in: folder) where !attempts.contains(name) { try forget(name) }
    }

    private func place(_ attempt: String) -> String { "\(folder)/\(attempt)" }
}
