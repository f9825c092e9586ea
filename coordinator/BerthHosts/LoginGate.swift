import Synchronization

/// Lets logins begin so that no sshd has too many unauthenticated connections; the rest waits, first come first served.
final class LoginGate: Sendable {
    private struct Waiting {
        let number: UInt64
        let addresses: [String]
        let continuation: CheckedContinuation<Bool, Never>
    }

    private struct State {
        var nextNumber: UInt64 = 0
        var waiting: [Waiting] = []
        var busy: [String: Int] = [:]
        var total = 0
    }

    private let limits: LoginLimits
    private let state = Mutex(State())

    init(limits: LoginLimits) {
        self.limits = limits
    }

    /// Logs in when it is this login's turn.
    /// - Parameters:
    ///   - addresses: every sshd that sees a login, each once: the host's and those of the hosts on the way to it.
    ///   - body: the login, from connecting until the host has let us in or not.
    /// - Returns: what the body returns.
    /// - Throws: `SSHError.cancelled` when the task is cancelled while it waits, and what the body throws
    func pass<Result: Sendable>(
        _ addresses: [String],
        _ body: () async throws(SSHError) -> Result
    ) async throws(SSHError) -> Result {
        guard await enter(addresses) else { throw .cancelled }
        defer { leave(addresses) }
        return try await body()
    }

    /// How many wait for their turn.
    var waitingCount: Int { state.withLock { $0.waiting.count } }

    private func enter(_ addresses: [String]) async -> Bool {
        let number = state.withLock { state in
            state.nextNumber += 1
            return state.nextNumber
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                admit { state in
                    state.waiting.append(
                        Waiting(number: number, addresses: addresses, continuation: continuation)
                    )
                }
                if Task.isCancelled { cancel(number) }
            }
        } onCancel: {
            cancel(number)
        }
    }

    private func leave(_ addresses: [String]) {
        admit { state in
            state.total -= 1
            for address in addresses {
                let rest = (state.busy[address] ?? 1) - 1
                state.busy[address] = rest > 0 ? rest : nil
            }
        }
    }

    private func cancel(_ number: UInt64) {
        let cancelled = state.withLock { state in
            state.waiting.firstIndex { $0.number == number }.map { state.waiting.remove(at: $0) }
        }
        cancelled?.continuation.resume(returning: false)
    }

    /// Changes the state, then lets in whoever has room now.
    private func admit(_ change: (inout State) -> Void) {
        let admitted = state.withLock { state in
            change(&state)
            var admitted: [Waiting] = []
            // Who waits for an address keeps later ones from it, also while it waits for another address as well.
            var taken: Set<String> = []
            var rest: [Waiting] = []
            for waiting in state.waiting {
                let fits =
                    state.total < limits.total
                    && waiting.addresses.allSatisfy {
                        !taken.contains($0) && state.busy[$0, default: 0] < limits.perAddress
                    }
                guard fits else {
                    taken.formUnion(waiting.addresses)
                    rest.append(waiting)
                    continue
                }
                state.total += 1
                for address in waiting.addresses { state.busy[address, default: 0] += 1 }
                admitted.append(waiting)
            }
            state.waiting = rest
            return admitted
        }
        for waiting in admitted { waiting.continuation.resume(returning: true) }
    }
}
