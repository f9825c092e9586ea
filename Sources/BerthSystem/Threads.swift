import Foundation

/// Blocking work on threads of its own, away from the cooperative pool.
package enum Threads {
    /// Runs a body on a new thread and suspends until it ends.
    package static func run<Result: Sendable>(
        name: String,
        _ body: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            detach(name: name) {
                continuation.resume(with: Swift.Result { try body() })
            }
        }
    }

    /// Starts a body on a new thread; the body decides when it ends.
    package static func detach(name: String, _ body: @escaping @Sendable () -> Void) {
        let thread = Thread { body() }
        thread.name = name
        thread.stackSize = 1 << 20
        thread.start()
    }
}
