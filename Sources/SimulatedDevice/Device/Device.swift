import BerthSystem
import Foundation

/// One device of a set, as seen from outside its supervisor.
package struct Device: Sendable {
    package let udid: String
    package let folder: DeviceFolder

    /// How long another's change of the same device is waited for.
    private static let patience = Duration.seconds(60)

    /// What the device's record says.
    ///
    /// - Throws: `SimulatorError` when it is no longer there or is unreadable.
    package func record() throws -> DeviceRecord {
        do {
            return try DeviceRecord(path: folder.record)
        } catch let error as SystemError where error.code == ENOENT {
            throw SimulatorError.invalidDevice(udid)
        } catch {
            throw SimulatorError.hostFailure("The device's record \(folder.record) is unreadable: \(error)")
        }
    }

    /// The device's state, checked against its supervisor: a device whose supervisor was killed is shut down.
    package func state() throws -> DeviceState {
        let claimed = try record().state
        guard claimed != .shutdown, !isAnswering else { return claimed }
        // Somebody who holds the lock is changing the state right now, and the claim stands until they are done.
        guard let lock = try tryLock(folder.lock) else { return claimed }
        defer { lock.release() }
        return try settledState()
    }

    /// The state, while the caller holds the device's lock; corrects the record that a killed supervisor left behind.
    func settledState() throws -> DeviceState {
        var record = try record()
        guard record.state != .shutdown, !isAnswering else { return record.state }
        // A supervisor that no longer answers but still holds its lock is ending its apps.
        guard let lock = try tryLock(folder.supervisorLock) else { return .shuttingDown }
        defer { lock.release() }
        ProcessTable.endLeftovers(of: folder)
        record.state = .shutdown
        try record.write(to: folder.record)
        return .shutdown
    }

    /// Runs a change of the device that no other process may make at the same time.
    func exclusively<Result>(_ body: () throws -> Result) throws -> Result {
        let end = ContinuousClock.now + Self.patience
        while true {
            if let lock = try tryLock(folder.lock) {
                defer { lock.release() }
                return try body()
            }
            guard ContinuousClock.now < end else {
                throw SimulatorError.hostFailure("Another process keeps changing the device: \(folder.lock) is held.")
            }
            usleep(10_000)
        }
    }

    /// Whether a supervisor lives, answering or not; ask while holding the device's lock.
    func isSupervised() throws -> Bool {
        guard let lock = try tryLock(folder.supervisorLock) else { return true }
        lock.release()
        return false
    }

    private func tryLock(_ path: String) throws -> FileLock? {
        do {
            return try FileLock.acquire(path: path, holder: "berth-sim \(getpid())")
        } catch is FileLockError {
            return nil
        } catch let error as SystemError where error.code == ENOENT {
            throw SimulatorError.invalidDevice(udid)
        }
    }

    private var isAnswering: Bool {
        (try? SocketConnection.connect(unixPath: folder.controlSocket)) != nil
    }
}
