import Foundation

/// Blocking work on threads of its own, away from the cooperative pool.
package enum Threads {
    private static let workers = Workers()

    /// Runs a body on a thread of its own and suspends until it ends.
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

    /// Starts a body on a thread of its own; the body decides when it ends.
    package static func detach(name: String, _ body: @escaping @Sendable () -> Void) {
        workers.take(Job(name: name, body: body))
    }

    private struct Job: Sendable {
        let name: String
        let body: @Sendable () -> Void
    }

    /// Threads that have done their work wait a while for more, since a thread costs more than what most are started for.
    /// No job ever waits for a thread.
    ///
    /// Safe to share: all state is read and written under the condition's lock.
    private final class Workers: @unchecked Sendable {
        /// Most threads that wait.
        private static let idleLimit = 32
        /// How long one waits, in seconds.
        private static let patience = 10.0

        private let condition = NSCondition()
        /// Jobs for threads that wait: never more than there are such threads.
        private var jobs: [Job] = []
        private var idle = 0
        /// The first jobs of threads that are about to begin.
        private var starting: [UInt64: Job] = [:]
        private var started: UInt64 = 0

        func take(_ job: Job) {
            condition.lock()
            let isTaken = jobs.count < idle
            if isTaken {
                jobs.append(job)
                condition.signal()
            } else {
                started += 1
                starting[started] = job
            }
            let number = started
            condition.unlock()
            guard !isTaken else { return }
            let thread = Thread { self.work(number) }
            thread.name = job.name
            thread.stackSize = 1 << 20
            thread.start()
        }

        /// A job goes as soon as it is done: what it holds may keep a connection or a file open.
        private func work(_ number: UInt64) {
            var goesOn = perform(first(number))
            while goesOn { goesOn = perform(next()) }
        }

        private func perform(_ job: Job?) -> Bool {
            guard let job else { return false }
            Thread.current.name = job.name
            job.body()
            return true
        }

        private func first(_ number: UInt64) -> Job? {
            condition.lock()
            defer { condition.unlock() }
            return starting.removeValue(forKey: number)
        }

        private func next() -> Job? {
            condition.lock()
            defer { condition.unlock() }
            guard idle < Self.idleLimit else { return nil }
            idle += 1
            defer { idle -= 1 }
            let deadline = Date(timeIntervalSinceNow: Self.patience)
            while jobs.isEmpty {
                guard condition.wait(until: deadline) else { break }
            }
            return jobs.isEmpty ? nil : jobs.removeFirst()
        }
    }
}
