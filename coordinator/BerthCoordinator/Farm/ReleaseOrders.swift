import BerthCore

/// Operators' orders to release devices: the latest for each device, and who waits for the outcome.
struct ReleaseOrders {
    /// The most orders that are remembered.
    private static let memory = 500

    private var latest: [String: ReleaseView] = [:]
    private var waiting: [UInt64: CheckedContinuation<Void, Never>] = [:]
    private var requests: UInt64 = 0

    /// The latest order for a device.
    func order(for udid: String) -> ReleaseView? { latest[udid] }

    /// Notes a new order.
    mutating func begin(_ udid: String, slot: String, by caller: String) -> ReleaseView {
        requests += 1
        if latest.count >= Self.memory, let oldest = latest.values.min(by: { $0.request < $1.request }) {
            latest[oldest.udid] = nil
            waiting.removeValue(forKey: oldest.request)?.resume()
        }
        let order = ReleaseView(request: requests, udid: udid, slot: slot, by: caller, state: .ordered, cause: nil)
        if let before = latest.updateValue(order, forKey: udid) { stopWaiting(for: before.request) }
        return order
    }

    /// Resumes the continuation once the order has its outcome, at once if it has it or is forgotten.
    mutating func wait(for order: ReleaseView, _ continuation: CheckedContinuation<Void, Never>) {
        guard latest[order.udid]?.request == order.request, latest[order.udid]?.state == .ordered else {
            return continuation.resume()
        }
        waiting[order.request] = continuation
    }

    /// Lets go of who waits for an order, whatever has become of it.
    mutating func stopWaiting(for request: UInt64) {
        waiting.removeValue(forKey: request)?.resume()
    }

    /// Notes the outcome of an order, if it is the latest for its device.
    mutating func end(_ request: UInt64, _ udid: String, refusal: OutcomeCause?) {
        defer { stopWaiting(for: request) }
        guard let order = latest[udid], order.request == request, order.state == .ordered else { return }
        latest[udid] = ReleaseView(
            request: request,
            udid: udid,
            slot: order.slot,
            by: order.by,
            state: refusal == nil ? .released : .refused,
            cause: refusal
        )
    }

    /// An agent that is gone has forgotten its orders.
    mutating func slotLeft(_ slot: String) {
        for order in latest.values where order.slot == slot && order.state == .ordered {
            let cause = OutcomeCause(
                "slot-left",
                "the agent of \(slot) left before it said what came of it: see whether the device is still listed"
            )
            end(order.request, order.udid, refusal: cause)
        }
    }
}
