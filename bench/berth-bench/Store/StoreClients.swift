import BerthCore
import BerthStore

/// Clients that claim and release without a pause, each on a slot of its own.
struct StoreClients: Sendable {
    /// What lies between a claim and the next.
    enum Work: Sendable {
        /// The claim is declined: two commits that a caller waits for.
        case decline
        /// The attempt is accepted, and its signed report recorded with a ledger entry: three commits.
        case record
    }

    struct Figures: Sendable {
        var pairs = 0
        var seconds = 0.0
        var claims = Samples()
        var releases = Samples()

        var rate: Double { Double(pairs) / seconds }

        mutating func add(_ other: Figures) {
            pairs += other.pairs
            claims.add(other.claims)
            releases.add(other.releases)
        }
    }

    let stage: StoreStage
    let work: Work

    /// Lets so many clients work for a time; with a pace, each begins a pair so often only.
    func run(_ count: Int, for length: Duration, pace: Duration? = nil) async throws -> Figures {
        let start = ContinuousClock.now
        let end = start + length
        var total = try await withThrowingTaskGroup(of: Figures.self) { group in
            for client in 0..<count {
                group.addTask {
                    let offset = pace.map { $0 * client / count } ?? .zero
                    return try await self.client(client, from: start + offset, until: end, pace: pace)
                }
            }
            var total = Figures()
            for try await figures in group { total.add(figures) }
            return total
        }
        total.seconds = (ContinuousClock.now - start).inSeconds
        return total
    }

    private func client(
        _ number: Int,
        from start: ContinuousClock.Instant,
        until end: ContinuousClock.Instant,
        pace: Duration?
    ) async throws -> Figures {
        var figures = Figures()
        var next = start
        let slot = stage.slots[number]
        while ContinuousClock.now < end {
            if let pace {
                try await Task.sleep(until: next)
                next += pace
            }
            let began = ContinuousClock.now
            let assignment = try await stage.claim(slot: slot)
            figures.claims.add(ContinuousClock.now - began)
            figures.releases.add(try await release(assignment, number))
            figures.pairs += 1
        }
        return figures
    }

    private func release(_ assignment: Assignment, _ number: Int) async throws -> Duration {
        let (attempt, epoch) = (assignment.attempt, assignment.epoch)
        switch work {
        case .decline:
            let began = ContinuousClock.now
            guard
                try await stage.store.decline(
                    attempt: attempt,
                    epoch: epoch,
                    cause: OutcomeCause("busy", "the slot executes another attempt"),
                    now: 5
                )
            else { throw BenchFailure("attempt \(attempt) could not be declined") }
            return ContinuousClock.now - began
        case .record:
            guard try await stage.store.accept(attempt: attempt, epoch: epoch, now: 5) else {
                throw BenchFailure("attempt \(attempt) could not be accepted")
            }
            let (report, bytes) = try stage.report(of: assignment, slot: stage.slots[number])
            let began = ContinuousClock.now
            let filing = try await stage.store.record(report, bytes: bytes, host: stage.host(ofSlot: number), now: 6)
            guard filing == .recorded else { throw BenchFailure("the result of \(attempt) was \(filing)") }
            return ContinuousClock.now - began
        }
    }
}
