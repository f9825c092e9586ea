import BerthSystem
import Synchronization

/// Failures that a test asked for: keychain calls of apps that are answered with a status and do nothing. They live in
/// the supervisor and end with it.
final class KeychainFaults: Sendable {
    private struct Armed {
        var fault: KeychainFault
        /// Calls that still go through first.
        var skip: Int
        /// Failures that are left.
        var left: Int
    }

    private let armed = Mutex<[Armed]>([])
    private let log = Log(component: "supervisor")

    func arm(_ fault: KeychainFault) {
        armed.withLock { $0.append(Armed(fault: fault, skip: fault.after, left: fault.times)) }
        log.notice("Fault armed", ["fault": fault.words])
    }

    /// Ends all faults.
    /// - Returns: how many failures no call has met.
    func clear() -> Int {
        let left = armed.withLock { armed in
            defer { armed = [] }
            return armed.reduce(0) { $0 + $1.left }
        }
        log.notice("Faults cleared", ["left": "\(left)"])
        return left
    }

    /// The status that a call of an app is to fail with, or nil.
    func strike(_ operation: String, bundle: String) -> KeychainStatus? {
        let fault = armed.withLock { armed -> KeychainFault? in
            guard let index = armed.firstIndex(where: { $0.fault.call == operation && $0.left > 0 }) else { return nil }
            if armed[index].skip > 0 {
                armed[index].skip -= 1
                return nil
            }
            armed[index].left -= 1
            let fault = armed[index].fault
            if armed[index].left == 0 { armed.remove(at: index) }
            return fault
        }
        guard let fault else { return nil }
        log.notice("Fault injected", ["fault": fault.words, "bundle": bundle])
        return KeychainStatus(rawValue: fault.status)
    }
}

/// One order to let keychain calls fail.
package struct KeychainFault: Codable, Hashable, Sendable {
    /// The operations of the keychain.
    package static let calls = ["add", "copy", "update", "delete"]

    /// One of `calls`.
    package let call: String
    /// What the call answers with instead.
    package let status: Int32
    /// How many calls fail.
    package let times: Int
    /// How many calls of that kind go through first.
    package let after: Int

    var words: String { "\(call) answers \(status), times \(times), after \(after)" }
}
