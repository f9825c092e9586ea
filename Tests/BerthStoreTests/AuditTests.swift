import BerthCore
import BerthStore
import Testing

@Suite("Audit and host keys", .timeLimit(.minutes(5)))
struct AuditTests {
    private let pinned = StoredHostKey(line: "ssh-ed25519 AAAA", fingerprint: "SHA256:pinned")
    private let next = StoredHostKey(line: "ssh-ed25519 BBBB", fingerprint: "SHA256:next")
    private let third = StoredHostKey(line: "ecdsa-sha2-nistp256 CCCC", fingerprint: "SHA256:third")

    private func key(_ farm: StoreFixture) async throws -> String? {
        try await farm.store.hosts().first { $0.name == "alpha" }?.hostKey
    }

    @Test("A key is pinned at an operator's word only, and the word is on record", arguments: StoreKind.allCases)
    func trust(kind: StoreKind) async throws {
        let farm = try await StoreFixture(kind)
        let store = farm.store
        #expect(try await store.hostShows(next, insteadOf: pinned, host: "alpha", now: 10) == false)
        #expect(try await store.hostShows(next, insteadOf: pinned, host: "alpha", now: 11) == false)
        let state = try await store.hostKeyStates()
        #expect(state["alpha"]?.shown == next && state["alpha"]?.shownSince == 10 && state["beta"] == nil)
        #expect(try await key(farm) == pinned.line)
        #expect(try await store.audit(limit: 10).isEmpty)

        #expect(try await store.trustHostKey(next, insteadOf: pinned, host: "alpha", actor: "kim", now: 12))
        #expect(try await key(farm) == next.line)
        #expect(try await store.hostKeyStates().isEmpty)
        // One who still sees the old key pinned changes nothing.
        #expect(try await store.trustHostKey(third, insteadOf: pinned, host: "alpha", actor: "lee", now: 13) == false)
        #expect(try await store.hostShows(third, insteadOf: pinned, host: "alpha", now: 13) == false)
        #expect(try await key(farm) == next.line)
        let entries = try await store.audit(limit: 10)
        #expect(entries.count == 1)
        #expect(entries[0].actor == "kim" && entries[0].at == 12 && entries[0].action == "host-key-trusted")
        #expect(entries[0].subject == "host alpha")
        #expect(entries[0].details == ["oldFingerprint": "SHA256:pinned", "newFingerprint": "SHA256:next"])
        await #expect(throws: StoreError.unknownHost(name: "gamma", known: ["alpha", "beta"])) {
            try await store.trustHostKey(third, insteadOf: next, host: "gamma", actor: "lee", now: 14)
        }
        let again = try await farm.reopen()
        #expect(try await again.audit(limit: 10) == entries)
    }

    @Test("What was announced is taken back, and then the key is refused as any other", arguments: StoreKind.allCases)
    func withdrawal(kind: StoreKind) async throws {
        let farm = try await StoreFixture(kind)
        let store = farm.store
        #expect(try await store.withdrawHostKey(of: "alpha", actor: "lee", now: 4) == nil)
        try await store.expectHostKey("SHA256:next", pinned: "SHA256:pinned", host: "alpha", actor: "kim", now: 5)
        #expect(try await store.withdrawHostKey(of: "alpha", actor: "lee", now: 6) == "SHA256:next")
        #expect(try await store.hostShows(next, insteadOf: pinned, host: "alpha", now: 7) == false)
        #expect(try await key(farm) == pinned.line)
        let entries = try await store.audit(limit: 10)
        #expect(entries.map(\.action) == ["host-key-expected", "host-key-withdrawn"])
        #expect(entries[1].actor == "lee" && entries[1].details == ["expectedFingerprint": "SHA256:next"])
    }

    @Test("An announced key is pinned when it is shown, and no other one is", arguments: StoreKind.allCases)
    func announcement(kind: StoreKind) async throws {
        let farm = try await StoreFixture(kind)
        let store = farm.store
        try await store.expectHostKey("SHA256:next", pinned: "SHA256:pinned", host: "alpha", actor: "kim", now: 5)
        #expect(try await store.hostShows(third, insteadOf: pinned, host: "alpha", now: 6) == false)
        #expect(try await key(farm) == pinned.line)
        let state = try await store.hostKeyStates()["alpha"]
        #expect(state?.shown == third && state?.expected == "SHA256:next" && state?.expectedBy == "kim")
        try await store.hostShowsPinnedKey("alpha")
        #expect(try await store.hostKeyStates()["alpha"]?.shown == nil)
        #expect(try await store.hostKeyStates()["alpha"]?.expected == "SHA256:next")
        #expect(try await store.hostShows(next, insteadOf: pinned, host: "alpha", now: 7))
        #expect(try await key(farm) == next.line)
        #expect(try await store.hostKeyStates().isEmpty)
        let entries = try await store.audit(limit: 10)
        #expect(entries.map(\.action) == ["host-key-expected", "host-key-trusted"])
        #expect(entries.map(\.actor) == ["kim", "kim"] && entries.map(\.at) == [5, 7])
        #expect(entries[1].details["confirmed"] == "announced before the host showed it")
    }

    @Test("What operators do is on record once it is done, and pages follow one another", arguments: StoreKind.allCases)
    func actions(kind: StoreKind) async throws {
        let farm = try await StoreFixture(kind)
        let store = farm.store
        try await farm.addSlot("sim-1")
        _ = try await store.takeOutOfUse(.slot("sim-1"), .drained, reason: "cable", actor: "kim", now: 20)
        _ = try await store.resume(.slot("sim-1"), actor: "lee", now: 21)
        // It is in use: nothing is done.
        _ = try await store.resume(.slot("sim-1"), actor: "lee", now: 22)
        let reservation = try await store.reserve(
            slot: "sim-1",
            batch: nil,
            label: "slot:sim-1",
            until: 1000,
            reason: "mine",
            actor: "kim",
            now: 23
        )
        #expect(try await store.endReservation(reservation.id, actor: "lee", now: 24))
        try await store.setLimit(.submitter, "ci", most: 2, actor: "kim", now: 25)
        try await store.setLimit(.submitter, "ci", most: nil, actor: "kim", now: 26)
        await #expect(throws: StoreError.self) {
            try await store.takeOutOfUse(.slot("sim-9"), .drained, reason: "r", actor: "kim", now: 27)
        }
        let entries = try await store.audit(since: 20, limit: 100)
        #expect(
            entries.map { "\($0.at) \($0.actor) \($0.action) \($0.subject)" } == [
                "20 kim drained slot sim-1", "21 lee resumed slot sim-1", "23 kim reserved slot sim-1",
                "24 lee reservation-ended slot sim-1", "25 kim limit-set submitter ci",
                "26 kim limit-lifted submitter ci",
            ]
        )
        #expect(entries[1].details == ["former": "drained", "reason": "cable"])
        #expect(entries[2].details["label"] == "slot:sim-1" && entries[4].details == ["most": "2"])
        let page = try await store.audit(since: 21, limit: 2)
        #expect(page == Array(entries[1...2]))
        #expect(try await store.audit(since: 21, after: page.last?.number, limit: 2) == Array(entries[3...4]))
        #expect(try await store.audit(limit: 2) == Array(entries.suffix(2)))
    }
}
