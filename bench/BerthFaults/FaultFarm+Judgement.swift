import BerthArchive
import BerthCore
import BerthSystem
import Foundation
import Synchronization

// How a farm is judged when its faults have ended.
extension FaultFarm {
    /// Gives every run the time that its attempts can take. What has no end then is found missing in the ledger.
    func waitForRest() async {
        let limit = Duration.seconds(60 + options.leaseSeconds * 4)
        let deadline = ContinuousClock.now + limit
        while ContinuousClock.now < deadline {
            if let status = await client.status(), status.queued == 0, status.running == 0 { return }
            try? await Task.sleep(for: .milliseconds(100))
        }
        options.tell("runs are still waiting after \(limit)")
    }

    /// Judges by the devices' logs and the ledgers.
    /// - Parameters:
    ///   - submitted: the runs that must have an end.
    ///   - disturbances: the faults that explain repeated runs.
    /// - Returns: what the check found.
    /// - Throws: `SystemError`
    func judge(submitted: Set<String>, disturbances: [Disturbance]) async throws -> FaultCheck.Finding {
        let (logs, lines) = try touches()
        var unreadable = lines
        var ledgers: [DeviceKind: [[UInt8]]] = [:]
        do {
            ledgers = try await self.ledgers()
        } catch {
            // A coordinator that cannot show what it has recorded has lost it.
            unreadable.append(.init(rule: .unreadable, words: "\(error)"))
        }
        let evidence = EvidenceDirectory(beside: try BlobDirectory(path: "\(root)/coordinator/archive"))
        let check = FaultCheck(
            logs: logs,
            ledgers: ledgers,
            submitted: submitted,
            disturbances: disturbances,
            lease: Int64(options.leaseSeconds) * 1_000_000_000,
            clockStep: options.clockStep,
            archive: { try evidence.read($0, of: $1, limit: 1 << 26) }
        )
        var finding = try await Threads.run(name: "judge") { check.judge() }
        finding.violations += unreadable + troubles.all.map { .init(rule: .harness, words: $0) }
        return finding
    }

    /// What became of replies so far.
    /// - Throws: `SystemError`
    func replies() throws -> ReplyTally {
        let notes = FramePipe.replies(in: "\(root)/memory")
        var tally = ReplyTally()
        if FileManager.default.fileExists(atPath: notes) {
            tally = ReplyTally(notes: String(decoding: try DurableFile.read(notes, limit: 1 << 30), as: UTF8.self))
        }
        tally.add(
            .submission,
            api.answered.load(ordering: .relaxed),
            lost: api.dropped.load(ordering: .relaxed)
        )
        return tally
    }

    /// The devices' own logs.
    /// - Throws: `SystemError`
    func touches() throws -> ([String: [Touch]], unreadable: [FaultCheck.Violation]) {
        var logs: [String: [Touch]] = [:]
        var unreadable: [FaultCheck.Violation] = []
        for slot in slotNames {
            let bytes = try DurableFile.read("\(root)/devices/\(slot)/touches", limit: 1 << 30)
            let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
            logs[slot] = lines.compactMap { Touch($0) }
            if logs[slot]?.count != lines.count {
                unreadable.append(.init(rule: .unreadable, words: "the log of \(slot) has a line that is none"))
            }
        }
        return (logs, unreadable)
    }

    /// The canonical bytes of all entries of each ledger.
    /// - Throws: `Failure`
    func ledgers() async throws -> [DeviceKind: [[UInt8]]] {
        var ledgers: [DeviceKind: [[UInt8]]] = [:]
        for kind in DeviceKind.allCases {
            let deadline = ContinuousClock.now + .seconds(30)
            var bytes = await client.ledger(kind)
            while bytes == nil, ContinuousClock.now < deadline {
                try await Task.sleep(for: .milliseconds(500))
                bytes = await client.ledger(kind)
            }
            guard let bytes else {
                throw Failure(description: "the \(kind.rawValue) ledger cannot be read")
            }
            ledgers[kind] = bytes
        }
        return ledgers
    }
}
