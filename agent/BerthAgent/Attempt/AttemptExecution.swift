import BerthArchive
import BerthCore
import BerthSystem
import Foundation

/// Executes one attempt on a fresh device, from the first step to the report. Its blocking work has a thread of its own.
package actor AttemptExecution {
    /// What all attempts of a slot share.
    package struct Settings: Sendable {
        package let driver: any DeviceDriver
        package let builds: KnownBuilds
        /// Signs reports.
        package let key: SigningKey
        package let bundles: LaidOutBuilds
        /// The slot's state, which an attempt writes into.
        package let state: StateFolder
        /// Folder for what an attempt needs while it runs.
        package let workFolder: String
        /// How long a launch may take to write its status file.
        package let statusTimeout: Duration
    }

    private static let log = Log(component: "executor")

    private let executor: BlockingExecutor
    let assignment: Assignment
    let settings: Settings
    let driver: any DeviceDriver
    private let recorder: CallRecorder
    private let pulse: ExecutorPulse
    private let control: AttemptControl
    private let secure: @Sendable (KeptResult) async throws -> Void
    private let progress: @Sendable (BerthCore.Progress) -> Void

    private let started = ContinuousClock.now
    private let startedAt = Timestamp.now()
    private var steps: [AttemptReport.Step] = []
    var evaluation: AttemptEvaluation
    var evidence: EvidenceCollector
    var entitlements = EntitlementEvidence()
    /// The attempt's device, once it is there.
    var device: PreparedDevice?
    /// The build that was installed last.
    var installed: AssignedBuild?
    /// The app that was launched last.
    var app: LaunchedApp?
    var launches: [AppLaunch] = []
    /// Why the host's disk took nothing more at some time of the attempt.
    private var shortage: DiskTrouble?
    /// Injected keychain faults that have not been ended.
    var faults: [KeychainFault] = []

    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// An attempt with the canary of its nonce; `progress` is told of each step as it begins, `secure` puts report and
    /// evidence on disk before a device is kept. `endIfOverdue` is asked before each touch of the device: it ends the
    /// attempt through its control when the lease has run out and nobody has noticed yet, as on a host that stood still.
    package init(
        _ assignment: Assignment,
        canary: Canary,
        settings: Settings,
        pulse: ExecutorPulse,
        control: AttemptControl,
        endIfOverdue: @escaping @Sendable () -> Void = {},
        secure: @escaping @Sendable (KeptResult) async throws -> Void,
        progress: @escaping @Sendable (BerthCore.Progress) -> Void
    ) {
        executor = BlockingExecutor(name: "attempt \(assignment.attempt)")
        self.assignment = assignment
        self.settings = settings
        self.pulse = pulse
        self.control = control
        self.secure = secure
        self.progress = progress
        recorder = CallRecorder {
            endIfOverdue()
            if control.reason != nil { throw CancellationError() }
        }
        driver = settings.driver.recording(recorder, pulse: pulse)
        evidence = EvidenceCollector(canary: canary)
        evaluation = AttemptEvaluation(
            definition: assignment.caseDefinition,
            nonce: assignment.nonce,
            epoch: assignment.epoch
        )
    }

    /// Where this attempt's files lie while it runs.
    var folder: String { "\(settings.workFolder)/\(assignment.attempt)" }

    /// Runs the attempt to its end; always comes to a report.
    /// - Throws: what keeps the report itself from being made: `EncodingError`, `FormatError`
    package func run() async throws -> KeptResult {
        pulse.expect("the attempt's start", within: ExecutorPulse.ownWork)
        // Awaited below; a task of its own, so that ending it leaves the finishing work alone.
        let work = Task { await self.perform() }
        control.attach(work)
        let timer = Task { [control, timeout = assignment.timeout] in
            try await Task.sleep(for: .milliseconds(timeout))
            control.end(.timeout(milliseconds: timeout))
        }
        await work.value
        timer.cancel()
        defer { pulse.rest() }
        return try await finish()
    }

    /// Says that something begins which ends within a time.
    func expect(_ doing: String, within limit: Duration) {
        pulse.expect(doing, within: limit)
    }

    /// Runs one named step: tells of it, times it, and notes what went wrong.
    func step(_ title: String, number: Int, _ body: () async throws -> Void) async throws {
        let total = assignment.caseDefinition.steps.count + 2
        progress(
            BerthCore.Progress(
                attempt: assignment.attempt,
                epoch: assignment.epoch,
                step: number,
                steps: total,
                title: title
            )
        )
        let began = ContinuousClock.now
        func note(_ problem: String?) {
            steps.append(
                AttemptReport.Step(
                    title: title,
                    started: Self.milliseconds(began - started),
                    duration: Self.milliseconds(ContinuousClock.now - began),
                    problem: problem
                )
            )
        }
        lookForShortage()
        do {
            try Task.checkCancellation()
            try recorder.checkPermit()
            try await body()
        } catch {
            note("\(error)")
            throw error
        }
        note(evaluation.goesOn ? nil : evaluation.conclusion.cause?.message)
    }

    /// What goes wrong on a full disk says nothing about a build, whatever it looks like.
    private func lookForShortage() {
        if shortage == nil { shortage = settings.state.trouble() }
    }

    private func judgeShortage() {
        lookForShortage()
        // A quota, or a disk without room for names, shows only when something is written.
        if shortage == nil, evaluation.conclusionSoFar.outcome != .passed { shortage = settings.state.probe() }
        guard let shortage else { return }
        switch control.reason {
        case .timeout, nil: evaluation.recordShortage(shortage.cause)
        case .cancelled, .leaseLost, .agentStopping: break
        }
    }

    private func perform() async {
        do {
            try await performSteps()
        } catch {
            note(error)
        }
    }

    private func note(_ error: any Error) {
        if let reason = control.reason {
            switch reason {
            case .cancelled(let words): evaluation.recordCancellation(words)
            case .leaseLost:
                evaluation.recordFailure(
                    .init("lease-lost", "no heartbeat was acknowledged in time, so the attempt was ended")
                )
            case .timeout(let limit):
                evaluation.recordFailure(.init("attempt-timeout", "the attempt did not end within \(limit) ms"))
            case .agentStopping:
                evaluation.recordFailure(.init("agent-stopped", "the agent was asked to end during the attempt"))
            }
            return
        }
        switch error {
        case let error as DeviceToolError: evaluation.recordFailure(error.cause)
        case let error as ArchiveError: evaluation.recordFailure(.init("cache-\(error.code)", "\(error)"))
        case let error as JournalError: evaluation.recordFailure(.init("journal-unwritable", "\(error)"))
        case let error as SystemError:
            evaluation.recordFailure(.init(error.isDiskFull ? "disk-full" : "host-failure", "\(error)"))
            if error.isDiskFull, shortage == nil { shortage = DiskTrouble(error) }
        default: evaluation.recordFailure(.init("host-failure", "\(error)"))
        }
    }

    // MARK: The end

    private func finish() async throws -> KeptResult {
        recorder.beginPuttingAway()
        pulse.expect("the attempt's evidence", within: ExecutorPulse.ownWork)
        await endLeftApp()
        await collect()
        judgeShortage()
        try FinishedAttempt.judge(&evaluation, &evidence, steps: steps)
        var ending = ending
        if case .worthKeeping(let outcome, let cause, _) = ending, let device {
            let trouble = await secureEvidence(expecting: device.udid)
            ending = .worthKeeping(outcome, cause: cause, evidence: trouble?.cause)
        }
        let preserved = await settle(ending)
        pulse.expect("the attempt's report", within: ExecutorPulse.ownWork)
        do {
            if access(folder, F_OK) == 0 { try Folders.remove(folder) }
            try settings.bundles.yield()
        } catch {
            Self.log.error("cannot clear what the attempt needed", ["error": "\(error)"])
        }
        return try finished(preserved)
    }

    private func finished(_ preserved: String?) throws -> KeptResult {
        let circumstances = FinishedAttempt.Circumstances(
            assignment: assignment,
            key: settings.key,
            device: driver.facts,
            tools: driver.tools,
            steps: steps,
            startedAt: startedAt
        )
        return try FinishedAttempt.make(
            circumstances,
            evaluation: evaluation,
            evidence: evidence,
            preservedDevice: preserved
        )
    }

    /// All evidence is on disk before the device is put away for a person (E2). Where the disk does not take it the device
    /// is kept all the same, as the evidence of last resort, and says so until disk or coordinator has the evidence.
    /// - Returns: why the evidence is not on disk, or nil.
    private func secureEvidence(expecting udid: String) async -> DiskTrouble? {
        do {
            try await secure(try finished(udid))
            return nil
        } catch {
            let trouble = DiskTrouble(error)
            Self.log.error("a device is kept whose evidence is not on disk", ["device": udid, "cause": "\(trouble)"])
            settings.state.note(error)
            return trouble
        }
    }

    /// Ends an app that the steps left running.
    private func endLeftApp() async {
        guard let device, let app else { return }
        do {
            try await driver.end(app, on: device)
        } catch {
            Self.log.error("cannot end the attempt's app", ["pid": "\(app.pid)", "error": "\(error)"])
            if let process = app.process, process.isRunning { kill(process.pid, SIGKILL) }
        }
    }

    private func collect() async {
        collectEntitlements()
        if let device, let bundle = installed?.description.bundleIdentifier, !launches.isEmpty {
            do {
                for (path, bytes) in try await driver.logs(since: startedAt, of: bundle, on: device) {
                    evidence.add(path, bytes)
                }
            } catch {
                Self.log.error("cannot collect the device's logs", ["error": "\(error)"])
            }
        }
        for (index, call) in recorder.all.enumerated() {
            let number = String(format: "%03d", index + 1)
            evidence.add("tools/\(number)-\(call.verb).txt", ToolOutput.text(call))
        }
        for (index, launch) in launches.enumerated() {
            evidence.add("app/\(index + 1).stdout", file: launch.standardOutput)
            evidence.add("app/\(index + 1).stderr", file: launch.standardError)
        }
    }

    private var ending: DeviceEnding {
        let conclusion = evaluation.conclusion
        if conclusion.outcome == .passed { return .clean }
        guard shallPreserve(conclusion.outcome) else { return .abandoned }
        return .worthKeeping(conclusion.outcome, cause: conclusion.cause?.code, evidence: nil)
    }

    /// Puts the device away.
    /// - Returns: the UDID of a kept device.
    private func settle(_ ending: DeviceEnding) async -> String? {
        do {
            return try await driver.settle(assignment, device: device, ending: ending)
        } catch {
            // What stays behind is removed before the next attempt.
            Self.log.error("cannot put the attempt's device away", ["error": "\(error)"])
            return nil
        }
    }

    /// A device is worth keeping when something was launched on it and the farm itself did not end the attempt.
    private func shallPreserve(_ outcome: Outcome) -> Bool {
        switch control.reason {
        case .leaseLost, .agentStopping, .cancelled: false
        case .timeout, nil: outcome != .passed && outcome != .cancelled && !launches.isEmpty
        }
    }

    static func milliseconds(_ duration: Duration) -> Int64 {
        duration.components.seconds * 1000 + duration.components.attoseconds / 1_000_000_000_000_000
    }
}
