import BerthCore
import BerthStore
import BerthSystem
import BerthTestSupport
import Testing

@testable import BerthStore

@Suite("Holding hosts", .timeLimit(.minutes(5)))
struct HoldingTests {
    private func names(_ holdings: Store.Holdings) -> [String] { holdings.hosts.map(\.name) }

    @Test(
        "Hosts are shared by the living, taken over after the time, and handed over at once by who leaves",
        arguments: StoreKind.allCases
    )
    func shared(_ kind: StoreKind) async throws {
        let farm = try await StoreFixture(kind)
        func hold(_ coordinator: String, _ length: Int64 = 60_000) async throws -> [String] {
            names(try await farm.store.hold(coordinator: coordinator, url: "http://\(coordinator)", length: length))
        }
        #expect(try await hold("first") == ["alpha", "beta"])
        // Another one comes: it is known now, and gets what the first gives up in its next round.
        #expect(try await hold("second") == [])
        #expect(try await hold("first") == ["alpha"])
        #expect(try await hold("second") == ["beta"])
        #expect(try await hold("first") == ["alpha"])
        // It dies: its time has to pass.
        #expect(try await hold("second", 1) == ["beta"])
        try await eventually("the hold has ended") { try await hold("first") == ["alpha", "beta"] }
        #expect(try await hold("second") == [])
        try await farm.store.letGo(coordinator: "first")
        #expect(try await hold("second") == ["alpha", "beta"])
        #expect(
            try await farm.store.othersHoldings(of: "first").mapValues(\.holder) == [
                "alpha": "second", "beta": "second",
            ]
        )
    }

    @Test("Who was stopped and wakes up after a takeover can neither claim, nor accept, nor give up")
    func fenced() async throws {
        let farm = try await StoreFixture(.postgres)
        try await farm.addSlot("sim-1")
        _ = try await farm.submit(repeats: 2)
        let first = try await Store.open(postgres: farm.conninfo, coordinator: "first")
        let second = try await Store.open(postgres: farm.conninfo, coordinator: "second")
        let nonce = Hex.encode(RandomBytes.make(16))
        await #expect(throws: StoreError.hostNotHeld(host: "alpha", holder: nil)) {
            try await first.claim(slot: "sim-1", now: 4, nonce: nonce, timeout: 1)
        }
        _ = try await first.hold(coordinator: "first", url: "", length: 1)
        let assignment = try #require(try await first.claim(slot: "sim-1", now: 4, nonce: nonce, timeout: 1))
        try await eventually("the second has both") {
            try await second.hold(coordinator: "second", url: "", length: 60_000).hosts.count == 2
        }
        let refusal = StoreError.hostNotHeld(host: "alpha", holder: "second")
        let (attempt, epoch) = (assignment.attempt, assignment.epoch)
        await #expect(throws: refusal) { try await first.claim(slot: "sim-1", now: 5, nonce: nonce, timeout: 1) }
        await #expect(throws: refusal) { try await first.accept(attempt: attempt, epoch: epoch, now: 5) }
        await #expect(throws: refusal) {
            try await first.giveUp(attempt: attempt, epoch: epoch, cause: .init("lease-expired", ""), now: 5)
        }
        await #expect(throws: refusal) { try await first.nextTerm(host: "alpha") }
        // The second one adopts it, and what the first one learned meanwhile is true nevertheless.
        #expect(try await second.openAttempts(host: "alpha").map(\.attempt) == [attempt])
        #expect(try await second.accept(attempt: attempt, epoch: epoch, now: 6))
        #expect(try await farm.end(assignment, .passed, in: first) == .recorded)
        #expect(try await farm.end(assignment, .passed, in: second) == .recorded)
        #expect(try await farm.verifiedHead().length == 1)
    }

    @Test("Shares differ by one at most, whatever was held before")
    func policy() {
        let coordinators = ["a", "b", "c"]
        for count in 0...10 {
            var holders: [String?] = (0..<count).map { $0 < 7 ? "a" : nil }
            for _ in 0..<30 {
                for coordinator in coordinators {
                    let hosts = holders.enumerated().map { number, holder in
                        HostHolding(
                            record: HostRecord(
                                name: "h\(number)",
                                hostName: "h",
                                port: 22,
                                user: "u",
                                identityFile: "/k",
                                hostKey: "k"
                            ),
                            holder: holder
                        )
                    }
                    let mine = HoldingPolicy.share(of: coordinator, hosts: hosts, coordinators: coordinators)
                    for number in 0..<count {
                        if mine.contains("h\(number)") {
                            #expect(holders[number] == nil || holders[number] == coordinator)
                            holders[number] = coordinator
                        } else if holders[number] == coordinator {
                            holders[number] = nil
                        }
                    }
                }
            }
            let shares = coordinators.map { name in holders.count { $0 == name } }
            #expect(shares.reduce(0, +) == count)
            #expect((shares.max() ?? 0) - (shares.min() ?? 0) <= 1, "\(count) hosts: \(shares)")
        }
    }
}
