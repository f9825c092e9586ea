import Foundation
import Synchronization

/// Collects what a descriptor yields up to a limit, and reads on past it so that the writer never blocks.
package final class OutputCollector: Sendable {
    private struct State {
        var bytes: [UInt8] = []
        var truncated = false
        var ended = false
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let limit: Int
    private let state = Mutex(State())

    package init(limit: Int) {
        self.limit = limit
    }

    /// Reads until the end. Blocks.
    package func drain(_ descriptor: FileDescriptor) {
        while let part = try? descriptor.read(upTo: FileDescriptor.pieceSize), !part.isEmpty {
            state.withLock { state in
                let room = limit - state.bytes.count
                state.bytes += part.prefix(max(room, 0))
                if part.count > room { state.truncated = true }
            }
        }
        finish()
    }

    /// Suspends until the end of the stream, at most for `grace`; answers whether the end has come.
    package func waitForEnd(grace: Duration) async -> Bool {
        let timer = Task {
            try await Task.sleep(for: grace)
            self.resumeWaiter()
        }
        await withCheckedContinuation { continuation in
            let done = state.withLock { state in
                if !state.ended { state.waiter = continuation }
                return state.ended
            }
            if done { continuation.resume() }
        }
        timer.cancel()
        return state.withLock { $0.ended }
    }

    package var snapshot: (bytes: [UInt8], truncated: Bool) {
        state.withLock { ($0.bytes, $0.truncated) }
    }

    private func finish() {
        state.withLock { $0.ended = true }
        resumeWaiter()
    }

    private func resumeWaiter() {
        let waiter = state.withLock { state in
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }
}
