import BerthCore
import BerthSystem
import Synchronization

/// Lets go of the device's lock for a person who asked for it, and takes it back when that person is done. The kernel's
/// lock alone says who has the device.
final class ManualWork: Sendable {
    private let lock: FileLock
    private let slot: String
    private let order: ShellOrder
    /// What was asked for when the lock was let go; nil while the agent holds it.
    private let given = Mutex<ShellOrder.Order?>(nil)

    init(lock: FileLock, slot: String, state: String) {
        self.lock = lock
        self.slot = slot
        order = ShellOrder(state: state)
    }

    /// Whether the agent does not have its device.
    var isUnderWay: Bool { given.withLock { $0 != nil } }

    /// Whether somebody waits for the device, or has it.
    var isAskedFor: Bool { order.standing != nil }

    /// Why the slot takes no attempt on this account.
    var refusal: OutcomeCause? {
        let standing = order.standing
        guard let given = given.withLock({ $0 }) else {
            return standing.map {
                OutcomeCause("manual-work", "\(Self.words($0)) waits for the device; it goes to manual work next")
            }
        }
        guard let standing else {
            let left = LockHolders.of(lock.path).map { "process \($0)" }.joined(separator: ", ")
            return OutcomeCause(
                "manual-work",
                "the shell of \(Self.words(given)) has ended, but what it started still holds the device"
                    + (left.isEmpty ? "" : ": \(left)") + "; lock: \(lock.path)"
            )
        }
        return OutcomeCause(
            "manual-work",
            "\(Self.words(standing)) works by hand on the device; the slot goes on when that shell ends"
        )
    }

    private static func words(_ order: ShellOrder.Order) -> String {
        "\(order.user) (\(order.process), since \(Timestamp(milliseconds: order.since).text))"
    }

    /// Lets go of the lock for whoever waits. The device must be at rest.
    /// - Returns: who gets it, or nil when nobody waits.
    func begin() -> String? {
        guard let standing = order.standing else { return nil }
        given.withLock { $0 = standing }
        lock.release()
        return Self.words(standing)
    }

    /// Takes the lock back once the shell has ended.
    /// - Returns: false while somebody else has it.
    /// - Throws: `SystemError`
    func end() throws -> Bool {
        guard order.standing == nil else { return false }
        do {
            try lock.acquireAgain(holder: DeviceLock.holderLine(slot: slot))
        } catch is FileLockError {
            return false
        }
        order.withdraw()
        given.withLock { $0 = nil }
        return true
    }
}
