import BerthCore
import BerthStore
import BerthSystem
import BerthTestSupport
import Testing

/// What only a database with several coordinators, and a server that can go away, has to stand.
@Suite("Shared store", .timeLimit(.minutes(5)))
struct SharedStoreTests {
    @Test("Coordinators that claim and record at once: every run goes to one slot, and the ledgers stay chains")
    func severalCoordinators() async throws {
        let farm = try await StoreFixture(.postgres)
        let stores = [farm.store, try await farm.reopen(), try await farm.reopen()]
        let slots = (1...12).map { "sim-\($0)" }
        for slot in slots { try await farm.addSlot(slot) }
        let batch = try await farm.submit(repeats: 120)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, slot) in slots.enumerated() {
                let store = stores[number % stores.count]
                group.addTask {
                    while true {
                        let nonce = Hex.encode(RandomBytes.make(16))
                        let claimed = try await store.claim(slot: slot, now: 4, nonce: nonce, timeout: 60_000)
                        guard let assignment = claimed else { return }
                        #expect(try await store.accept(attempt: assignment.attempt, epoch: assignment.epoch, now: 5))
                        // Both the slot's own coordinator and another one get the result, as after a takeover.
                        async let other = farm.end(assignment, .passed, in: stores[(number + 1) % stores.count])
                        #expect(try await farm.end(assignment, .passed, in: store) == .recorded)
                        #expect(try await other == .recorded)
                    }
                }
            }
            try await group.waitForAll()
        }
        let runs = try await farm.store.runs(batch: batch.id)
        #expect(runs.count { $0.verdict == .passed && $0.attempts.count == 1 } == 120)
        #expect(try await farm.verifiedHead().length == 120)
    }

    @Test("What one coordinator changes, the others are told once it is committed; nobody hears himself")
    func notices() async throws {
        let farm = try await StoreFixture(.postgres)
        let other = try await farm.reopen()
        var heard = other.notices.makeAsyncIterator()
        // The first word is that what came before was missed.
        #expect(await heard.next() == .some(nil))
        _ = try await other.submit(try await farm.operation())
        let batch = try await farm.submit()
        #expect(await heard.next() == .batch(batch.id))
        #expect(await heard.next() == .work)
    }

    @Test("A server that dies and connections that are cut lose nothing and double nothing")
    func serverDies() async throws {
        let server = try await TestPostgresServer()
        let conninfo = try await server.makeDatabase()
        let farm = try await StoreFixture(.postgres, conninfo: conninfo)
        try await farm.addSlot("sim-1")
        let submissions = Task {
            var done = 0
            for number in 0..<150 {
                // Without a key: a repeat inside the store would make a second batch.
                let op = try await farm.operation(repeats: 1 + number % 3)
                done += try await farm.store.submit(op).batch.runs.count
            }
            return done
        }
        for _ in 0..<10 {
            try await Task.sleep(for: .milliseconds(60))
            try await server.sql(
                """
                SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                WHERE datname = current_database() AND pid <> pg_backend_pid()
                """,
                conninfo
            )
        }
        try await server.kill()
        try await server.start()
        let submitted = try await submissions.value
        #expect(try await farm.store.counts().queued == submitted)
        #expect(try await farm.store.batches(limit: 1000).count == 150)
        let assignment = try #require(try await farm.start("sim-1"))
        #expect(try await farm.end(assignment, .passed) == .recorded)
    }

    @Test("A server that is not there is an error that names it, without its password")
    func unreachable() async throws {
        do {
            _ = try await Store.open(postgres: "host=/nowhere user=berth password = 'sehr geheim' dbname=farm")
            Issue.record("it was opened")
        } catch {
            #expect(error.code == "storage-unreachable")
            #expect("\(error)".contains("/nowhere") && !"\(error)".contains("geheim"))
        }
    }
}
