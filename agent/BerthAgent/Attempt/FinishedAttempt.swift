import BerthArchive
import BerthCore
import BerthSystem

/// From the judgement of an attempt to what is kept of it: the signed report, and the blobs of its evidence. Nothing in it
/// holds the canary.
enum FinishedAttempt {
    /// What the steps and the judgement say, for the evidence.
    private struct Timeline: Encodable {
        let steps: [AttemptReport.Step]
        let cause: OutcomeCause?
        let checks: [CheckResult]
    }

    /// What a report says besides judgement and evidence.
    struct Circumstances {
        let assignment: Assignment
        /// The agent's.
        let key: SigningKey
        let device: DeviceFacts
        let tools: [String: String]
        let steps: [AttemptReport.Step]
        let startedAt: Timestamp
    }

    /// Searches the evidence and the words of the judgement for the canary, and lets that decide D2.
    static func judge(
        _ evaluation: inout AttemptEvaluation,
        _ evidence: inout EvidenceCollector,
        steps: [AttemptReport.Step]
    ) throws {
        let conclusion = evaluation.conclusion
        let timeline = Timeline(steps: steps, cause: conclusion.cause, checks: conclusion.checks)
        evidence.add("steps.json", try CanonicalJSON.encode(timeline))
        evaluation.recordSecrecy(leaks: evidence.leaks)
    }

    /// Makes the report of a judged attempt.
    /// - Throws: `EncodingError`, `FormatError`, `SigningKey.Failure`
    static func make(
        _ circumstances: Circumstances,
        evaluation: AttemptEvaluation,
        evidence: EvidenceCollector,
        preservedDevice: String?
    ) throws -> KeptResult {
        var evidence = evidence
        let assignment = circumstances.assignment
        let (manifest, files, blobs) = try evidence.finish(attempt: assignment.attempt, epoch: assignment.epoch)
        let conclusion = evaluation.conclusion
        let report = AttemptReport(
            run: assignment.run,
            attempt: assignment.attempt,
            epoch: assignment.epoch,
            outcome: conclusion.outcome,
            cause: conclusion.cause,
            checks: conclusion.checks,
            steps: circumstances.steps,
            device: circumstances.device,
            agentVersion: BerthVersion.text,
            tools: circumstances.tools,
            startedAt: circumstances.startedAt.milliseconds,
            endedAt: Timestamp.now().milliseconds,
            evidence: manifest,
            files: files,
            preservedDevice: preservedDevice
        )
        // Whatever an app said and a cause repeats is masked in the report as it is in the evidence.
        let signed = try AgentKey.sign(report, with: circumstances.key)
        let text = try CanonicalJSON.encode(signed)
        let masked = evidence.mask(text, place: "report")
        if masked == text { return KeptResult(report: signed, text: text, blobs: blobs) }
        let safe = try CanonicalJSON.decode(AttemptReport.self, from: masked, document: "report")
        return try KeptResult(report: try AgentKey.sign(safe, with: circumstances.key), blobs: blobs)
    }
}
