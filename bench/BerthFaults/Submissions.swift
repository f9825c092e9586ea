import BerthCore
import BerthSystem
import Foundation
import Synchronization

/// Keeps a farm busy: submits batches until it is ended, each until it has an answer.
final class Submissions: Sendable {
    private struct State {
        var runs: Set<String> = []
        var isEnded = false
        var coordinator = 0
    }

    private static let batch = 20

    private let farm: FaultFarm
    private let state = Mutex(State())

    init(_ farm: FaultFarm) { self.farm = farm }

    /// Everything that was submitted and answered.
    var runs: Set<String> { state.withLock { $0.runs } }

    /// Asks another coordinator from now on, by its place.
    func ask(_ coordinator: Int) { state.withLock { $0.coordinator = coordinator } }

    private var client: FarmClient { farm.clients[state.withLock { $0.coordinator }] }

    var isEnded: Bool { state.withLock { $0.isEnded } }

    func end() { state.withLock { $0.isEnded = true } }

    func run() async {
        var number = 0
        while !state.withLock({ $0.isEnded }) {
            if let status = await client.status(), status.queued > farm.options.slots * 2 {
                try? await Task.sleep(for: .milliseconds(100))
                continue
            }
            number += 1
            await submit("storm-\(number)", Self.batch)
            if let limit = farm.options.runs, runs.count >= limit { end() }
        }
    }

    /// One batch more.
    func submitOnce() async { await submit("calm", Self.batch) }

    /// So many runs at once.
    func submit(_ count: Int) async {
        for begin in stride(from: 0, to: count, by: 1000) { await submit("many-\(begin)", min(1000, count - begin)) }
    }

    /// Once begun, a submission is carried through: its reply may be lost after it was done.
    private func submit(_ key: String, _ repeats: Int) async {
        let deadline = ContinuousClock.now + .seconds(60)
        while ContinuousClock.now < deadline {
            if let runs = await client.submit(key: key, repeats: repeats) {
                return state.withLock { $0.runs.formUnion(runs) }
            }
            try? await Task.sleep(for: .milliseconds(50))
        }
    }
}
