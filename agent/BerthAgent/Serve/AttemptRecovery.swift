import BerthCore
import BerthSystem
import Foundation

/// Brings an attempt to its end that a dead agent left: it is reported as errored, never continued.
enum AttemptRecovery {
    private static let log = Log(component: "agent")

    /// Ends what the journal says was running, and clears what it left on the device and in the work folder, which holds
    /// a folder per attempt.
    /// - Throws: `DeviceToolError`, `SystemError`, `FormatError`
    static func run(_ parts: SlotAgent.Parts, workFolder: String) async throws {
        let journal = parts.journal
        let driver = parts.execution.driver
        var died: String?
        for process in journal.state.processes {
            if process.exists, !parts.hooks.ignoresFencing { kill(-process.pid, SIGKILL) }
            journal.remember(.processEnded(process.pid))
        }
        if let assignment = journal.state.running {
            let reference = AttemptReference(attempt: assignment.attempt, epoch: assignment.epoch)
            if let kept = try parts.results.result(reference)?.report {
                // The agent may have died between the evidence and the device.
                let ending: DeviceEnding =
                    kept.preservedDevice == nil
                    ? .abandoned : .worthKeeping(kept.outcome, cause: kept.cause?.code, evidence: nil)
                _ = try await driver.settle(assignment, device: nil, ending: ending)
                try journal.append(.result(reference, kept.outcome))
            } else {
                died = assignment.attempt
                let device = try await driver.settle(assignment, device: nil, ending: .agentDied)
                let folder = "\(workFolder)/\(assignment.attempt)"
                let finished = try report(assignment, parts, folder: folder, preservedDevice: device)
                try parts.results.keep(finished)
                try journal.append(.result(reference, finished.report.outcome))
                log.notice("the agent died during an attempt", ["attempt": assignment.attempt])
            }
        }
        // Of any other attempt the result was journaled, so disk or coordinator has its evidence; a journal that was moved
        // away says nothing of that.
        for device in driver.kept() where device.attempt != died && journal.state.highestEpoch > 0 {
            guard let mark = device.evidence, mark != .evidenceLost else { continue }
            driver.evidenceIsSafe(of: device.attempt)
        }
        try await driver.clean()
        for reference in journal.state.unacknowledged where try parts.results.result(reference) == nil {
            // The coordinator had it, and a full disk kept the journal from saying so.
            log.notice("a result that was journaled is gone; it is not sent again", ["attempt": reference.attempt])
            journal.remember(.acknowledged(reference, .unknown))
        }
        try parts.results.forgetAll(besides: Set(journal.state.unacknowledged))
        try Folders.remove(workFolder)
        try DurableFile.makeFolder(workFolder)
    }

    private static func report(
        _ assignment: Assignment,
        _ parts: SlotAgent.Parts,
        folder: String,
        preservedDevice: String?
    ) throws -> KeptResult {
        guard let canary = Canary(nonce: assignment.nonce) else {
            throw FormatError(document: "journal", place: "nonce", problem: "it has not 32 hexadecimal digits")
        }
        var evidence = EvidenceCollector(canary: canary)
        for name in Folders.names(in: folder) where name.hasPrefix("app-") {
            evidence.add("app/\(name.dropFirst(4))", file: "\(folder)/\(name)")
        }
        var evaluation = AttemptEvaluation(
            definition: assignment.caseDefinition,
            nonce: assignment.nonce,
            epoch: assignment.epoch
        )
        evaluation.recordFailure(
            .init("agent-died", "the agent of \(parts.slot) died during the attempt, which is not continued")
        )
        try FinishedAttempt.judge(&evaluation, &evidence, steps: [])
        let circumstances = FinishedAttempt.Circumstances(
            assignment: assignment,
            key: parts.execution.key,
            device: parts.execution.driver.facts,
            tools: parts.execution.driver.tools,
            steps: [],
            startedAt: .now()
        )
        return try FinishedAttempt.make(
            circumstances,
            evaluation: evaluation,
            evidence: evidence,
            preservedDevice: preservedDevice
        )
    }
}
