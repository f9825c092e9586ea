import BerthCore
import BerthSystem

/// Cleans a slot's device between attempts when that is due: after a broken-off attempt, when a held phone's time is
/// over, or when an operator releases it. Its blocking work has a thread of its own.
package actor DeviceUpkeep {
    private static let log = Log(component: "upkeep")
    private static let interval: Duration = .milliseconds(500)

    private let executor: BlockingExecutor
    private let agent: SlotAgent

    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    package init(_ agent: SlotAgent) {
        executor = BlockingExecutor(name: "upkeep \(agent.parts.slot)")
        self.agent = agent
    }

    /// Looks after the device until the task is cancelled.
    package func run() async {
        while !Task.isCancelled {
            if agent.parts.execution.driver.isCleaningDue(), agent.beginUpkeep() {
                await clean()
                agent.endUpkeep()
            }
            try? await Task.sleep(for: Self.interval)
        }
    }

    private func clean() async {
        let driver = agent.parts.execution.driver.recording(CallRecorder(), pulse: agent.pulse)
        do {
            try await driver.clean()
        } catch is CancellationError {
            return
        } catch {
            Self.log.error("the device cannot be cleaned", ["error": "\(error)"])
        }
    }
}
