import BerthCore
import BerthSystem
import Foundation
import Synchronization

/// What an attempt left on a phone that is not proved to be gone. It is written before the attempt touches the phone and
/// removed when the phone is clean again; without one the phone is clean as far as this slot knows.
package struct HardwareRecord: Sendable, Hashable, Codable {
    /// What is to become of it.
    package enum Stage: String, Sendable, Hashable, Codable {
        /// The attempt is running, or its agent died.
        case open
        /// The phone is to be cleaned.
        case due
        /// The phone is kept for a person.
        case held
        /// It could not be proved that the phone is clean.
        case quarantined
    }

    package let attempt: String
    package let run: String
    /// Names the attempt's items; the token is derived from it, so the file is the agent user's alone.
    package let nonce: String
    package let epoch: UInt64
    /// The attempt's builds, the old one first.
    package let builds: [AssignedBuild]
    package let caseName: String?
    /// How the attempt ended, once it has.
    package var outcome: Outcome?
    /// Whether an app was started that may have left items.
    package var hasLaunched: Bool
    package var stage: Stage
    /// When the stage began, on the host's wall clock in milliseconds since 1970.
    package var since: Int64
    /// When a held phone is cleaned, or a quarantined one is tried again; nil: not by itself.
    package var until: Int64?
    /// Why the phone is held or quarantined.
    package var cause: OutcomeCause?
    /// The operator's order that led to the stage.
    package var order: String?
    /// Why the attempt's evidence is not on disk, while it is not.
    package var evidence: OutcomeCause?

    package init(_ assignment: Assignment) {
        attempt = assignment.attempt
        run = assignment.run
        nonce = assignment.nonce
        epoch = assignment.epoch
        builds = assignment.builds
        caseName = assignment.caseDefinition.name
        hasLaunched = false
        stage = .open
        since = Timestamp.now().milliseconds
    }

    /// The apps that the attempt installs.
    package var bundles: [String] { Array(Set(builds.map(\.description.bundleIdentifier))).sorted() }
}

/// The file of a slot's record, with its content in memory. What the disk does not take counts in memory, and goes there
/// with the next look; the file then says that the attempt is running, so that a new agent holds the phone.
package final class HardwareRecordFile: Sendable {
    package let path: String
    private struct Content {
        var record: HardwareRecord?
        var isWritten = true
    }

    private static let log = Log(component: "phone")
    private let content: Mutex<Content>

    /// Reads the record of a state folder.
    /// - Throws: `AgentFailure` of status `damagedState`, `SystemError`
    package init(state: String) throws {
        path = state + "/hardware.json"
        // What a crash left of a record that was being written.
        for name in Folders.names(in: state) where name.hasPrefix("hardware.json.") && name.hasSuffix(".partial") {
            unlink("\(state)/\(name)")
        }
        do {
            let bytes = try DurableFile.read(path, limit: 1 << 20)
            let record = try CanonicalJSON.decode(HardwareRecord.self, from: bytes, document: "hardware.json")
            content = Mutex(Content(record: record))
        } catch let error as SystemError where error.code == ENOENT {
            content = Mutex(Content())
        } catch let error as FormatError {
            throw AgentFailure(.damagedState, "\(path): \(error); it is kept as it is")
        }
    }

    package var record: HardwareRecord? {
        content.withLock { content in
            if !content.isWritten { content.isWritten = (try? save(content.record)) != nil }
            return content.record
        }
    }

    /// Writes a record. Blocks.
    /// - Throws: `SystemError`, `EncodingError`; the old one then still stands.
    package func write(_ record: HardwareRecord) throws {
        try content.withLock { content in
            try save(record)
            content = Content(record: record)
        }
    }

    /// Takes in what has become of the attempt's phone, or with nil that it is clean; on disk when this returns or as soon
    /// as it can be. Blocks.
    package func remember(_ record: HardwareRecord?) {
        content.withLock { content in
            content = Content(record: record)
            do {
                try save(record)
            } catch {
                content.isWritten = false
                Self.log.error("what has become of the phone cannot be written", ["path": path, "error": "\(error)"])
            }
        }
    }

    private func save(_ record: HardwareRecord?) throws {
        if let record { return try DurableFile.replace(path, with: try CanonicalJSON.encode(record)) }
        guard unlink(path) == 0 || errno == ENOENT else { throw SystemError(operation: "remove", path: path) }
        try DurableFile.synchronizeFolder(of: path)
    }

    /// Moves the record to another stage.
    /// - Parameters:
    ///   - stage: the new stage, which begins now.
    ///   - cause: why.
    ///   - order: the ID of the operator's order that it answers.
    ///   - delay: when something shall happen by itself; nil: never.
    package func move(
        to stage: HardwareRecord.Stage,
        cause: OutcomeCause? = nil,
        order: String? = nil,
        after delay: Duration? = nil
    ) {
        guard var record else { return }
        record.stage = stage
        record.since = Timestamp.now().milliseconds
        record.until = delay.map { record.since + $0.components.seconds * 1000 }
        record.cause = cause
        record.order = order
        remember(record)
    }
}
