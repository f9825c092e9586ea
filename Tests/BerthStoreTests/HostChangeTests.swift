import BerthCore
import BerthStore
import Testing

@Suite("Changing and removing hosts", .timeLimit(.minutes(5)))
struct HostChangeTests {
    @Test(
        "A host is removed when nothing runs on it, what it did stays, and it may come again",
        arguments: StoreKind.allCases
    )
    func removal(kind: StoreKind) async throws {
        let farm = try await StoreFixture(kind)
        let store = farm.store
        try await farm.addSlot("a-1")
        try await farm.addSlot("b-1", host: "beta")
        _ = try await store.submit(try await farm.operation(repeats: 2))
        let assignment = try #require(try await farm.start("a-1"))
        await #expect(throws: StoreError.hostBusy(host: "alpha", attempts: ["\(assignment.attempt) on a-1"])) {
            try await store.removeHost("alpha", actor: "kim", now: 5)
        }
        _ = try await store.giveUp(
            attempt: assignment.attempt,
            epoch: assignment.epoch,
            cause: OutcomeCause("lease-expired", "gone"),
            now: 6
        )
        _ = try await store.takeOutOfUse(.host("alpha"), .drained, reason: "old", actor: "kim", now: 7)
        #expect(try await store.removeHost("alpha", actor: "kim", now: 8).hostName == "alpha.example")
        #expect(try await store.hosts().map(\.name) == ["beta"])
        #expect(try await store.slots().map(\.name) == ["b-1"])
        #expect(try await store.services().isEmpty)
        #expect(try await store.hold(coordinator: "c", url: "", length: 1000).hosts.map(\.name) == ["beta"])
        #expect(try await store.ledger(.simulator).entries.map(\.host) == ["alpha"])
        // Its agents, if they still come, get nothing.
        #expect(try await farm.start("a-1") == nil)
        await #expect(throws: StoreError.unknownHost(name: "alpha", known: ["beta"])) { try await farm.addSlot("a-1") }
        await #expect(throws: StoreError.unknownHost(name: "alpha", known: ["beta"])) {
            try await store.removeHost("alpha", actor: "kim", now: 9)
        }
        // Its slots' names are free for others.
        try await farm.addSlot("a-1", host: "beta")
        #expect(try await store.slots().map(\.host) == ["beta", "beta"])

        let again = HostRecord(
            name: "alpha",
            hostName: "elsewhere.example",
            port: 22,
            user: "berth",
            identityFile: "/k",
            hostKey: "ssh-ed25519 BBBB"
        )
        try await store.addHost(again, actor: "kim", now: 10)
        try await farm.addSlot("a-2")
        #expect(try await store.hosts().first == again)
        #expect(try await farm.start("a-2") != nil)
        #expect(try await store.audit(limit: 10).map(\.action) == ["drained", "host-removed", "host-added"])
    }

    @Test("A change leaves the rest as it is, and tells what was and what is", arguments: StoreKind.allCases)
    func change(kind: StoreKind) async throws {
        let farm = try await StoreFixture(kind)
        let store = farm.store
        var change = HostChange()
        change.hostName = "10.0.0.7"
        change.compression = true
        let changed = try await store.changeHost("alpha", change, actor: "kim", now: 5)
        #expect(changed.hostName == "10.0.0.7" && changed.compression == true && changed.identityFile == "/keys/alpha")
        #expect(try await store.hosts().first == changed)
        // The same again is no change.
        _ = try await store.changeHost("alpha", change, actor: "kim", now: 6)
        try await store.expectHostKey("SHA256:next", pinned: "SHA256:pinned", host: "alpha", actor: "kim", now: 7)
        var key = HostChange()
        key.hostKey = "ssh-ed25519 BBBB"
        key.agentKey = .init(fingerprint: "SHA256:agent", socket: nil)
        let last = try await store.changeHost("alpha", key, actor: "lee", now: 8)
        #expect(last.hostKey == "ssh-ed25519 BBBB" && last.identityFile.isEmpty && last.hostName == "10.0.0.7")
        #expect(try await store.hostKeyStates().isEmpty)
        let entries = try await store.audit(limit: 10)
        #expect(entries.map(\.action) == ["host-changed", "host-key-expected", "host-changed"])
        #expect(
            entries[0].details == ["address": "alpha.example:22 → 10.0.0.7:22", "compression": "none → yes"]
        )
        #expect(entries[2].details["identityFile"] == "/keys/alpha → none" && entries[2].actor == "lee")
    }

    @Test("Who cancels is on record, once", arguments: StoreKind.allCases)
    func cancellations(kind: StoreKind) async throws {
        let farm = try await StoreFixture(kind)
        let store = farm.store
        try await farm.addSlot("a-1")
        let batch = try await store.submit(try await farm.operation(repeats: 3)).batch
        _ = try #require(try await farm.start("a-1"))
        for _ in 0..<2 {
            #expect(try await store.cancelRun(batch.runs[0].id, actor: "kim", now: 5).count == 1)
            _ = try await store.cancelBatch(batch.id, actor: "lee", now: 6)
            _ = try await store.cancelSubmitter("ci", actor: "lee", now: 7)
        }
        _ = try await store.submit(try await farm.operation(repeats: 2))
        _ = try await store.cancelSubmitter("ci", actor: "mo", now: 8)
        let entries = try await store.audit(limit: 10)
        #expect(entries.map(\.action) == ["run-cancelled", "batch-cancelled", "submitter-cancelled"])
        #expect(entries.map(\.subject) == ["run \(batch.runs[0].id)", "batch \(batch.id)", "submitter ci"])
        #expect(entries.map(\.actor) == ["kim", "lee", "mo"])
        #expect(entries.map { $0.details["runs"] } == ["1", "2", "2"])
    }
}
