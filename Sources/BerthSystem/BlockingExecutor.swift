import Foundation

/// A serial executor for actors that make blocking calls: jobs run one after the other on a queue whose thread
/// is not one of the cooperative pool's.
package final class BlockingExecutor: SerialExecutor {
    private static let key = DispatchSpecificKey<ObjectIdentifier>()
    private let queue: DispatchQueue

    /// - Parameter name: shown by debuggers.
    package init(name: String) {
        queue = DispatchQueue(label: name)
        queue.setSpecific(key: Self.key, value: ObjectIdentifier(self))
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let unowned = UnownedJob(job)
        let executor = asUnownedSerialExecutor()
        queue.async { unowned.runSynchronously(on: executor) }
    }

    package func checkIsolated() {
        precondition(DispatchQueue.getSpecific(key: Self.key) == ObjectIdentifier(self), "not on the executor")
    }
}
