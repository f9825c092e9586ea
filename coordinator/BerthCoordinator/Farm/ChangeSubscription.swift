import Synchronization

/// What one subscriber of the change feed has yet to be told.
final class ChangeSubscription: Sendable {
    /// More subjects than this waiting are replaced by one `resync`.
    static let limit = 256

    private struct State {
        var first: ChangeFeed.Delivery?
        /// The latest notice of each subject.
        var waiting: [ChangeNotice.Subject: ChangeNotice] = [:]
        /// The number up to which notices were dropped.
        var missedUntil: UInt64?
        var reader: CheckedContinuation<Void, Never>?
        var hasEnded = false
    }

    private let state = Mutex(State())
    private let whenEnded: @Sendable () -> Void

    /// - Parameter whenEnded: called once, when nobody reads any more.
    init(whenEnded: @escaping @Sendable () -> Void) {
        self.whenEnded = whenEnded
    }

    deinit { whenEnded() }

    func begin(with first: ChangeFeed.Delivery) {
        state.withLock { $0.first = first }
    }

    func add(_ notices: [ChangeNotice]) {
        let reader = state.withLock { state -> CheckedContinuation<Void, Never>? in
            for notice in notices {
                if state.missedUntil != nil {
                    state.missedUntil = notice.number
                } else {
                    state.waiting[notice.subject] = notice
                }
            }
            if state.waiting.count > Self.limit {
                state.waiting = [:]
                state.missedUntil = notices.last?.number
            }
            defer { state.reader = nil }
            return state.reader
        }
        reader?.resume()
    }

    /// The next delivery; waits for one. Nil once it has ended.
    func next() async -> ChangeFeed.Delivery? {
        while true {
            let (isOver, delivery) = state.withLock { ($0.hasEnded, Self.take(&$0)) }
            if isOver { return nil }
            if let delivery { return delivery }
            await withCheckedContinuation { continuation in
                let waits = state.withLock { state in
                    guard !state.hasEnded, state.first == nil, state.waiting.isEmpty, state.missedUntil == nil else {
                        return false
                    }
                    state.reader = continuation
                    return true
                }
                if !waits { continuation.resume() }
            }
        }
    }

    func end() {
        let reader = state.withLock { state in
            state.hasEnded = true
            defer { state.reader = nil }
            return state.reader
        }
        reader?.resume()
    }

    private static func take(_ state: inout State) -> ChangeFeed.Delivery? {
        if let first = state.first {
            state.first = nil
            return first
        }
        if let missed = state.missedUntil {
            state.missedUntil = nil
            return .resync(missed)
        }
        guard !state.waiting.isEmpty else { return nil }
        defer { state.waiting = [:] }
        return .changes(state.waiting.values.sorted { $0.number < $1.number })
    }
}
