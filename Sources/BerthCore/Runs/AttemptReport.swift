/// What an agent says about an ended attempt; together with the evidence that it names, all there is to know.
package struct AttemptReport: Sendable, Hashable, Codable {
    /// One executed step.
    package struct Step: Sendable, Hashable, Codable {
        package let title: String
        /// Milliseconds after the attempt's start.
        package let started: Int64
        /// Milliseconds.
        package let duration: Int64
        /// What went wrong, if anything did.
        package let problem: String?

        package init(title: String, started: Int64, duration: Int64, problem: String? = nil) {
            self.title = title
            self.started = started
            self.duration = duration
            self.problem = problem
        }
    }

    /// 1
    package let format: Int
    package let run: String
    package let attempt: String
    package let epoch: UInt64
    package let outcome: Outcome
    package let cause: OutcomeCause?
    package let checks: [CheckResult]
    package let steps: [Step]
    package let device: DeviceFacts
    package let agentVersion: String
    /// Tool name to version line.
    package let tools: [String: String]
    /// The host's wall clock, milliseconds since 1970.
    package let startedAt: Int64
    package let endedAt: Int64
    /// The manifest over all evidence files; a blob.
    package let evidence: Digest
    /// Files of the evidence, by path.
    package let files: [EvidenceFile]
    /// The simulated device kept for inspection after a failure (E2).
    package let preservedDevice: String?
    /// The agent's signature over the report's `AttemptStatement`.
    package let signature: AgentSignature?

    package init(
        run: String,
        attempt: String,
        epoch: UInt64,
        outcome: Outcome,
        cause: OutcomeCause?,
        checks: [CheckResult],
        steps: [Step],
        device: DeviceFacts,
        agentVersion: String,
        tools: [String: String],
        startedAt: Int64,
        endedAt: Int64,
        evidence: Digest,
        files: [EvidenceFile],
        preservedDevice: String?,
        signature: AgentSignature? = nil
    ) {
        format = 1
        self.run = run
        self.attempt = attempt
        self.epoch = epoch
        self.outcome = outcome
        self.cause = cause
        self.checks = checks
        self.steps = steps
        self.device = device
        self.agentVersion = agentVersion
        self.tools = tools
        self.startedAt = startedAt
        self.endedAt = endedAt
        self.evidence = evidence
        self.files = files
        self.preservedDevice = preservedDevice
        self.signature = signature
    }

    /// The same report with its agent's signature.
    package func with(_ signature: AgentSignature) -> AttemptReport {
        AttemptReport(
            run: run,
            attempt: attempt,
            epoch: epoch,
            outcome: outcome,
            cause: cause,
            checks: checks,
            steps: steps,
            device: device,
            agentVersion: agentVersion,
            tools: tools,
            startedAt: startedAt,
            endedAt: endedAt,
            evidence: evidence,
            files: files,
            preservedDevice: preservedDevice,
            signature: signature
        )
    }
}

/// One file of the evidence.
package struct EvidenceFile: Sendable, Hashable, Codable {
    package let path: String
    package let size: Int64
    package let digest: Digest

    package init(path: String, size: Int64, digest: Digest) {
        self.path = path
        self.size = size
        self.digest = digest
    }
}

/// The manifest over the evidence of an attempt; its canonical bytes are a blob.
package struct EvidenceManifest: Sendable, Hashable, Codable {
    /// 1
    package let format: Int
    package let attempt: String
    package let epoch: UInt64
    package let files: [EvidenceFile]

    package init(attempt: String, epoch: UInt64, files: [EvidenceFile]) {
        format = 1
        self.attempt = attempt
        self.epoch = epoch
        self.files = files.sorted { $0.path < $1.path }
    }
}

/// What an agent knows about its device.
package struct DeviceFacts: Sendable, Hashable, Codable {
    /// What epochs belong to: stays the same over the agent's restarts.
    package let identity: String
    package let platform: Platform
    package let model: String
    package let os: OSPin

    package init(identity: String, platform: Platform, model: String, os: OSPin) {
        self.identity = identity
        self.platform = platform
        self.model = model
        self.os = os
    }
}
