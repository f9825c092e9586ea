import BerthCore
import BerthSystem
import Testing

@testable import BerthStore

@Suite("Builds, hosts and submissions", .timeLimit(.minutes(5)))
struct InventoryTests {
    @Test("A build answers to its ID, a prefix and a name; what is unclear is listed", arguments: StoreKind.allCases)
    func references(_ kind: StoreKind) async throws {
        let farm = try await StoreFixture(kind)
        let store = farm.store
        let twin = StoreFixture.digest("another new")
        #expect(try await store.addBuild(twin, StoreFixture.description("new"), size: 1, now: 9).isNew)
        let again = try await store.addBuild(twin, StoreFixture.description("renamed"), size: 1, now: 10)
        #expect(!again.isNew)
        #expect(again.record.description.name == "new")
        for reference in [twin.description, String(twin.hex.prefix(6)), "sha256:" + twin.hex.prefix(12), twin.hex] {
            #expect(try await store.build(matching: reference).id == twin)
        }
        #expect(try await store.build(matching: "old").id == farm.old)
        let candidates = [farm.new, twin].sorted().map { "new \($0.short)" }
        await #expect(throws: StoreError.ambiguousBuild(reference: "new", candidates: candidates)) {
            try await store.build(matching: "new")
        }
        for reference in [String(twin.hex.prefix(5)), "", "nothing", "%"] {
            await #expect(throws: StoreError.unknownBuild(reference: reference, known: ["new", "old"])) {
                try await store.build(matching: reference)
            }
        }
    }

    @Test(
        "The same idempotency key gives the same batch, and never stands for two submissions",
        arguments: StoreKind.allCases
    )
    func idempotency(_ kind: StoreKind) async throws {
        let farm = try await StoreFixture(kind)
        let first = try await farm.store.submit(farm.operation(key: "build-7", repeats: 2))
        let again = try await farm.store.submit(farm.operation(key: "build-7", repeats: 2))
        #expect(first.isNew && !again.isNew)
        #expect(first.batch == again.batch)
        await #expect(throws: StoreError.idempotencyConflict(key: "build-7", batch: "b-1")) {
            try await farm.store.submit(farm.operation(key: "build-7", repeats: 3))
        }
        #expect(try await farm.store.counts().queued == 2)
        #expect(try await farm.store.submit(farm.operation(repeats: 2)).isNew)
        await #expect(throws: StoreError.self) { try await farm.store.submit(farm.operation(repeats: 10_001)) }
    }

    @Test("System versions are compared as numbers; the newest case version counts", arguments: StoreKind.allCases)
    func versions(_ kind: StoreKind) async throws {
        let farm = try await StoreFixture(kind)
        for (index, version) in ["17.2", "18.10", "18.9", "18.10.1"].enumerated() {
            try await farm.addSlot("sim-\(index)", os: OSPin(version: version, build: "1"))
        }
        let offered = try await farm.store.osVersions(platform: .linuxSimulated).map(\.version)
        #expect(offered == ["18.10.1", "18.10", "18.9", "17.2"])
        #expect(try await farm.store.osVersions(platform: .iosDevice).isEmpty)

        let newer = CaseDefinition(
            name: "update",
            version: 2,
            scenario: "newer",
            steps: BuiltInCases.update.steps
        )
        try await farm.store.addCase(newer, digest: StoreFixture.digest("case"), now: 5)
        #expect(try await farm.store.latestCase(named: "update").definition == newer)
        let known = BuiltInCases.all.map(\.name).sorted()
        await #expect(throws: StoreError.unknownCase(name: "updat", known: known)) {
            try await farm.store.latestCase(named: "updat")
        }
    }

    @Test(
        "Terms of a host grow over reopening; a host's name stands for one record; tokens are known by digest",
        arguments: StoreKind.allCases
    )
    func hosts(_ kind: StoreKind) async throws {
        let farm = try await StoreFixture(kind)
        #expect(try await farm.store.nextTerm(host: "alpha") == 1)
        #expect(try await farm.store.nextTerm(host: "alpha") == 2)
        let record = try #require(try await farm.store.hosts().first)
        try await farm.store.addHost(record, now: 9)
        let moved = HostRecord(
            name: record.name,
            hostName: "elsewhere.example",
            port: 22,
            user: "berth",
            identityFile: "/keys/alpha",
            hostKey: "ssh-ed25519 BBBB"
        )
        await #expect(throws: StoreError.hostTaken(name: "alpha")) { try await farm.store.addHost(moved, now: 9) }
        let token = StoreFixture.digest("token")
        try await farm.store.addToken(name: "ci", hash: token, role: "submitter", now: 9)
        await farm.store.close()
        let reopened = try await farm.reopen()
        #expect(try await reopened.nextTerm(host: "alpha") == 3)
        #expect(try await reopened.hosts().count == 2)
        let found = try #require(try await reopened.tokenName(hash: token))
        #expect(found == ("ci", "submitter"))
        #expect(try await reopened.tokenName(hash: StoreFixture.digest("guess")) == nil)
    }

    @Test("A store of a newer program is left alone", arguments: StoreKind.allCases)
    func newerSchema(_ kind: StoreKind) async throws {
        let farm = try await StoreFixture(kind)
        await farm.store.close()
        try await farm.runDirectly(
            kind == .sqlite ? "PRAGMA user_version = 77" : "UPDATE schema_version SET version = 77"
        )
        do {
            _ = try await farm.reopen()
            Issue.record("it was opened")
        } catch let error as StoreError {
            #expect(error.code == "newer-schema")
            #expect(
                "\(error)".contains("version 77")
                    && "\(error)".contains("knows versions up to \(StoreSchema.steps.count)")
            )
        }
    }
}
