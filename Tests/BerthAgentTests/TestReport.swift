import BerthArchive
import BerthCore
import BerthSystem
import BerthTestSupport

/// Reports of attempts that were never made.
enum TestReport {
    static func make(_ attempt: String, endedAt: Int64 = 1) -> AttemptReport {
        AttemptReport(
            run: "r-1",
            attempt: attempt,
            epoch: 1,
            outcome: .failed,
            cause: OutcomeCause("verify-crashed", "it crashed"),
            checks: [],
            steps: [],
            device: DeviceFacts(
                identity: "slot-1",
                platform: .linuxSimulated,
                model: "model",
                os: TestAssignment.os
            ),
            agentVersion: "1",
            tools: [:],
            startedAt: 0,
            endedAt: endedAt,
            evidence: Digest.sha256(of: []),
            files: [],
            preservedDevice: nil
        )
    }
}
