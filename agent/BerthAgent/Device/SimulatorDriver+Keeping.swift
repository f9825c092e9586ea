import BerthCore
import BerthSystem
import Foundation

/// What is kept after failures, and how a person's word lets go of it.
extension SimulatorDriver {
    /// Preserved devices lie beside the one of an attempt.
    package var releasesBesideAttempts: Bool { true }

    package func kept() -> [KeptDevice] {
        preserved.prune(set: simctl.set)
        return preserved.all().sorted { ($0.since, $0.udid) < ($1.since, $1.udid) }.map { entry in
            var words = "attempt \(entry.attempt) of run \(entry.run) ended as \(entry.outcome?.rawValue ?? "errored")"
            if entry.isFound == true {
                words += "; what its agent had decided of it was on no disk: it gives way when the slot needs its place"
            }
            return KeptDevice(
                udid: entry.udid,
                stage: .preserved,
                run: entry.run,
                attempt: entry.attempt,
                caseName: entry.caseName,
                bundle: entry.bundle,
                outcome: entry.outcome,
                cause: entry.cause.map { OutcomeCause($0, words) },
                since: entry.since,
                size: entry.size,
                evidence: entry.evidence
            )
        }
    }

    package func release(_ order: DeviceRelease) async throws -> OutcomeCause? {
        preserved.prune(set: simctl.set)
        guard preserved.holds(order.udid) else {
            let kept = preserved.all().map(\.udid).joined(separator: ", ")
            return OutcomeCause(
                "not-kept",
                "the slot keeps no device \(order.udid); it keeps \(kept.isEmpty ? "none" : kept)"
            )
        }
        do {
            try await simctl.shutdown(order.udid)
            try await simctl.delete(order.udid)
        } catch let error as DeviceToolError {
            // Somebody may have deleted it by hand meanwhile.
            guard try await simctl.list().device(order.udid) == nil else { return error.cause }
        }
        preserved.remove(order.udid)
        return nil
    }

    /// Shuts down what a person left booted; without its pristine device a slot has nothing to clone from.
    package func recoverFromManualWork() async throws {
        let list = try await simctl.list()
        for (_, device) in list.allDevices where !device.isShutdown { try await simctl.shutdown(device.udid) }
        guard list.device(pristine) != nil else {
            throw AgentFailure(
                .toolUnavailable,
                "the device \(pristine) that attempts are cloned from was deleted by hand; the next start makes a new one"
            )
        }
    }

    /// Keeps an attempt's device: it is noted before anything else is done to it.
    func preserve(
        _ udid: String,
        after assignment: Assignment,
        _ outcome: Outcome,
        cause: String?,
        evidence: OutcomeCause?,
        isFound: Bool? = nil
    ) async {
        var entry = PreservedDevices.Entry(
            udid: udid,
            attempt: assignment.attempt,
            run: assignment.run,
            since: Timestamp.now().milliseconds,
            cause: cause,
            outcome: outcome,
            caseName: assignment.caseDefinition.name,
            bundle: assignment.builds.last?.description.bundleIdentifier,
            evidence: evidence,
            isFound: isFound
        )
        await putAway(&entry)
    }

    private func putAway(_ entry: inout PreservedDevices.Entry) async {
        preserved.add(entry)
        do {
            try await simctl.shutdown(entry.udid)
        } catch {
            Self.log.error("a preserved device is not shut down", ["device": entry.udid, "error": "\(error)"])
        }
        entry.size = Folders.size(of: "\(simctl.set)/\(entry.udid)")
        preserved.add(entry)
    }

    /// Keeps the device of an attempt during which an agent died: what that agent had decided may have been in its memory
    /// alone. What it had noted still stands.
    func preserve(_ udid: String, afterDeathIn assignment: Assignment) async {
        let noted = preserved.all().first { $0.udid == udid }
        guard var entry = noted, entry.outcome != nil else {
            // A name without content is what a full disk took of a note.
            return await preserve(
                udid,
                after: assignment,
                .errored,
                cause: "agent-died",
                evidence: noted == nil ? nil : .evidenceLost,
                isFound: noted == nil ? true : nil
            )
        }
        if entry.evidence != nil { entry.evidence = .evidenceLost }
        await putAway(&entry)
    }

    /// Keeps a device that nobody has noted, of an attempt of another agent.
    func preserve(found udid: String, of attempt: String) async {
        var entry = PreservedDevices.Entry(
            udid: udid,
            attempt: attempt,
            run: "unknown",
            since: Timestamp.now().milliseconds,
            cause: "found-without-note",
            isFound: true
        )
        Self.log.notice("a device without a note is kept", ["device": udid, "attempt": attempt])
        await putAway(&entry)
    }

    package func evidenceIsSafe(of attempt: String) {
        for var entry in preserved.all() where entry.attempt == attempt && entry.evidence != nil {
            entry.evidence = nil
            preserved.add(entry)
        }
    }
}
