import BerthCore
import BerthSystem
import BerthTestSupport
import Foundation
import Testing

@Suite("Several coordinators", .serialized, .timeLimit(.minutes(10)))
struct SeveralCoordinatorsTests {
    private func withFarm(coordinators: Int, hosts: Int, _ body: (SharedFarm) async throws -> Void) async throws {
        let farm = try await SharedFarm(coordinators: coordinators, hosts: hosts)
        do {
            try await body(farm)
        } catch {
            await farm.stop()
            throw error
        }
        await farm.stop()
    }

    private func check(_ farm: SharedFarm, _ runs: [RunView], asking coordinator: Int) async throws {
        #expect(
            runs.allSatisfy { $0.verdict == .passed },
            "\(runs.map { "\($0.id) \(String(describing: $0.verdict))" })"
        )
        // Adopted, not repeated.
        #expect(runs.allSatisfy { $0.attempts.count == 1 }, "\(runs.map { $0.attempts.map(\.cause) })")
        let ledger = try await farm.json(LedgerView.self, coordinator, ["ledger", "simulator", "--verify"])
        #expect(ledger.entries.map(\.run).sorted() == runs.map(\.id).sorted())
    }

    @Test("A host's new key is accepted at whichever coordinator the operator asks, and its holder connects again")
    func hostKey() async throws {
        try await withFarm(coordinators: 2, hosts: 2) { farm in
            try await eventually("each holds one host") {
                Set(try await farm.hosts(asking: 2).compactMap(\.coordinator)).count == 2
            }
            for server in await farm.servers {
                await server.stop()
                try await server.replaceHostKey()
                try await server.start()
            }
            // Both at one coordinator, so that one of them is the other one's host.
            try await eventually("both hosts show another key") {
                try await farm.hosts(asking: 1).allSatisfy { $0.keyChange?.shown != nil }
            }
            for host in try await farm.hosts(asking: 1) {
                let shown = try #require(host.keyChange?.shown)
                try await farm.berth(1, ["host", "trust", host.host.name, "--fingerprint", shown])
            }
            try await farm.waitForIdleSlots(4, asking: 2)
            let entries = try await farm.json([AuditEntry].self, 2, ["audit", "--since", "1h"])
            #expect(entries.count { $0.action == "host-key-trusted" } == 2, "\(entries)")
        }
    }

    @Test("Two share the hosts; one dies with runs in flight, and the other one takes over and repeats nothing")
    func takeover() async throws {
        try await withFarm(coordinators: 2, hosts: 2) { farm in
            try await eventually("each holds one host") {
                let holders = Set(try await farm.hosts(asking: 2).compactMap(\.coordinator))
                return holders.count == 2
            }
            try await eventually("both tell the same of all hosts and slots") {
                var told: [[String]] = []
                for coordinator in [1, 2] {
                    told.append(
                        try await farm.hosts(asking: coordinator).flatMap { host in
                            ["\(host.host.name) \(host.state)"] + host.slots.map { "\($0.name) \($0.state)" }
                        }
                    )
                }
                return told[0] == told[1] && told[0].contains("sim-2-2 idle")
            }
            let batch = try await farm.submit(at: 2, repeats: 8, cases: ["update"])
            try await eventually("both hosts work") {
                let running = try await farm.runs(of: batch.id, asking: 1).filter { $0.state == .running }
                return Set(running.compactMap(\.attempts.last?.host)).count == 2
            }
            await farm.signal(SIGKILL, coordinator: 1)
            let runs = try await farm.waitUntilFinished(batch.id, asking: 2)
            try await check(farm, runs, asking: 2)
            // Its successor on the same data takes its share again.
            try await farm.startCoordinator(1)
            try await eventually("each holds one host again") {
                Set(try await farm.hosts(asking: 1).compactMap(\.coordinator)).count == 2
            }
            try await farm.waitForIdleSlots(4, asking: 1)
        }
    }

    @Test("One that was stopped for longer than its hold and wakes up does no harm")
    func sleeper() async throws {
        try await withFarm(coordinators: 2, hosts: 2) { farm in
            try await eventually("each holds one host") {
                Set(try await farm.hosts(asking: 2).compactMap(\.coordinator)).count == 2
            }
            let batch = try await farm.submit(at: 2, repeats: 8, cases: ["update"])
            try await eventually("both hosts work") {
                let running = try await farm.runs(of: batch.id, asking: 2).filter { $0.state == .running }
                return Set(running.compactMap(\.attempts.last?.host)).count == 2
            }
            await farm.signal(SIGSTOP, coordinator: 1)
            try await eventually("the other one has both hosts") {
                let hosts = try await farm.hosts(asking: 2)
                return Set(hosts.compactMap(\.coordinator)).count == 1 && hosts.allSatisfy { $0.state == .connected }
            }
            await farm.signal(SIGCONT, coordinator: 1)
            let runs = try await farm.waitUntilFinished(batch.id, asking: 2)
            try await check(farm, runs, asking: 1)
        }
    }

    @Test("A rolling restart loses and repeats nothing")
    func rollingRestart() async throws {
        try await withFarm(coordinators: 3, hosts: 2) { farm in
            let batch = try await farm.submit(at: 3, repeats: 10, cases: ["update"])
            for coordinator in [1, 2, 3] {
                try await eventually("something runs") {
                    let runs = try await farm.runs(of: batch.id, asking: coordinator)
                    return runs.contains { $0.state == .running } || runs.allSatisfy { $0.state.successors.isEmpty }
                }
                await farm.signal(SIGTERM, coordinator: coordinator)
                try await farm.startCoordinator(coordinator)
            }
            let runs = try await farm.waitUntilFinished(batch.id, asking: 1)
            try await check(farm, runs, asking: 2)
        }
    }
}
