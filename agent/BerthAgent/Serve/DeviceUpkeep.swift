import BerthCore
import BerthSystem

/// Looks after a slot's device between attempts: cleans it when that is due (after a broken-off attempt, when a held
/// phone's time is over), follows operators' orders to release what is kept, and lets go of the device for manual work.
/// Its blocking work has a thread of its own.
package actor DeviceUpkeep {
    private static let log = Log(component: "upkeep")
    /// How often the device is looked after.
    static let interval: Duration = .milliseconds(250)

    private let executor: BlockingExecutor
    private let agent: SlotAgent

    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private var manualWork: ManualWork { agent.parts.manualWork }

    package init(_ agent: SlotAgent) {
        executor = BlockingExecutor(name: "upkeep \(agent.parts.slot)")
        self.agent = agent
    }

    /// Looks after the device until the task is cancelled.
    package func run() async {
        while !Task.isCancelled {
            if manualWork.isUnderWay {
                await endManualWork()
            } else {
                await lookAfterDevice()
            }
            // While an attempt runs its own next record is soon enough.
            if agent.isIdle { agent.settleJournal() }
            agent.tellKeeping()
            agent.tellProgress()
            try? await Task.sleep(for: Self.interval)
        }
    }

    private func lookAfterDevice() async {
        let driver = agent.parts.execution.driver
        if driver.isCleaningDue(), agent.beginUpkeep() {
            await perform("clean") { try await driver.recording(CallRecorder(), pulse: agent.pulse).clean() }
            agent.endUpkeep()
        }
        for order in agent.takeReleases() { await follow(order) }
        if manualWork.isAskedFor, agent.beginUpkeep() {
            guard let person = manualWork.begin() else { return agent.endUpkeep() }
            Self.log.notice("the device is let go of for manual work", ["for": person])
        }
    }

    // MARK: Releases

    private func follow(_ order: DeviceRelease) async {
        let driver = agent.parts.execution.driver
        // Beside an attempt the pulse is that of the attempt.
        let isBeside = driver.releasesBesideAttempts
        guard isBeside || agent.beginUpkeep() else {
            return agent.answer(order, OutcomeCause("busy", "an attempt is running on the device"))
        }
        let pulse = isBeside ? ExecutorPulse() : agent.pulse
        var refusal: OutcomeCause?
        await perform("release \(order.udid)") {
            do {
                refusal = try await driver.recording(CallRecorder(), pulse: pulse).release(order)
            } catch {
                refusal = (error as? DeviceToolError)?.cause ?? OutcomeCause("host-failure", "\(error)")
                throw error
            }
        }
        if !isBeside { agent.endUpkeep() }
        agent.answer(order, refusal)
    }

    // MARK: Manual work

    private func endManualWork() async {
        for order in agent.takeReleases() {
            let cause = manualWork.refusal ?? OutcomeCause("manual-work", "somebody works by hand on the device")
            agent.answer(order, cause)
        }
        await perform("take the device back") {
            guard try manualWork.end() else { return }
            Self.log.notice("the device is taken back after manual work", [:])
            defer { agent.endUpkeep() }
            try await agent.parts.execution.driver.recording(CallRecorder(), pulse: agent.pulse).recoverFromManualWork()
        }
    }

    private func perform(_ what: String, _ body: () async throws -> Void) async {
        do {
            try await body()
        } catch is CancellationError {
            return
        } catch let failure as AgentFailure {
            agent.fail(failure)
        } catch {
            Self.log.error("the device's upkeep fails", ["doing": what, "error": "\(error)"])
        }
    }
}
