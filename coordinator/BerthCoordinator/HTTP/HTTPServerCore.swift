import Synchronization

/// What all exchanges of a server share.
final class HTTPServerCore: Sendable {
    private struct State {
        var exchanges: [ObjectIdentifier: HTTPExchange] = [:]
        var isStopping = false
        var waiter: CheckedContinuation<Void, Never>?
    }

    let limits: HTTPLimits
    let admission: (@Sendable (HTTPRequest) async -> HTTPResponse?)?
    let handler: @Sendable (HTTPRequest) async -> HTTPResponse
    private let state = Mutex(State())

    init(
        limits: HTTPLimits,
        admission: (@Sendable (HTTPRequest) async -> HTTPResponse?)?,
        handler: @escaping @Sendable (HTTPRequest) async -> HTTPResponse
    ) {
        self.limits = limits
        self.admission = admission
        self.handler = handler
    }

    /// Notes an exchange that is being admitted or handled; false once the server stops.
    func add(_ exchange: HTTPExchange) -> Bool {
        state.withLock { state in
            guard !state.isStopping else { return false }
            state.exchanges[ObjectIdentifier(exchange)] = exchange
            return true
        }
    }

    func remove(_ exchange: HTTPExchange) {
        let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
            state.exchanges[ObjectIdentifier(exchange)] = nil
            guard state.exchanges.isEmpty else { return nil }
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }

    /// Lets no new handler start, ends streams, and waits for the handlers and their answers, up to the limit. What
    /// is left then is answered with 503. Afterwards no connection is suspended any more, nor will be.
    func finish() async {
        let running = state.withLock { state in
            state.isStopping = true
            return Array(state.exchanges.values)
        }
        for exchange in running { exchange.endStream() }
        await waitUntilEmpty(atMost: limits.stopTimeout)
        let left = state.withLock { Array($0.exchanges.values) }
        for exchange in left {
            exchange.answer(
                .error(status: 503, code: "stopping", message: "the coordinator stopped before it was done")
            )
            exchange.endStream()
        }
        await waitUntilEmpty(atMost: .milliseconds(250))
    }

    private func waitUntilEmpty(atMost limit: Duration) async {
        let timer = Task {
            if (try? await Task.sleep(for: limit)) != nil { self.endWaiting() }
        }
        await withCheckedContinuation { continuation in
            let isEmpty = state.withLock { state in
                if !state.exchanges.isEmpty { state.waiter = continuation }
                return state.exchanges.isEmpty
            }
            if isEmpty { continuation.resume() }
        }
        timer.cancel()
        // Without this a timer that fires late would end the next wait.
        await timer.value
    }

    private func endWaiting() {
        let waiter = state.withLock { state in
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }
}
