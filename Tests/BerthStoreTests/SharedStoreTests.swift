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

    /// Two stores on one database, and a slot for each.
    private func two() async throws -> (farm: StoreFixture, claimers: [(slot: String, store: Store)]) {
        let farm = try await StoreFixture(.postgres)
        try await farm.addSlot("sim-1", host: "alpha")
        try await farm.addSlot("sim-2", host: "beta")
        return (farm, [("sim-1", farm.store), ("sim-2", try await farm.reopen())])
    }

    private func claimAll(_ claimers: [(slot: String, store: Store)]) async throws -> [Assignment] {
        try await withThrowingTaskGroup(of: Assignment?.self) { group in
            for claimer in claimers {
                group.addTask {
                    let nonce = Hex.encode(RandomBytes.make(16))
                    return try await claimer.store.claim(slot: claimer.slot, now: 4, nonce: nonce, timeout: 60_000)
                }
            }
            return try await group.reduce(into: []) { if let assignment = $1 { $0.append(assignment) } }
        }
    }

    private func decline(_ assignments: [Assignment], _ farm: StoreFixture) async throws {
        for assignment in assignments {
            try await farm.store.decline(
                attempt: assignment.attempt,
                epoch: assignment.epoch,
                cause: OutcomeCause("busy", "not now"),
                now: 5
            )
        }
    }

    @Test("A limit holds when coordinators claim at the same moment")
    func limitOfTwo() async throws {
        let (farm, claimers) = try await two()
        _ = try await farm.submit(repeats: 4)
        try await farm.store.setLimit(.submitter, "ci", most: 1, actor: "kim", now: 1)
        for round in 0..<40 {
            let claimed = try await claimAll(claimers)
            #expect(claimed.count == 1, "round \(round)")
            try await decline(claimed, farm)
        }
    }

    @Test("Nothing begins after a drain or a reservation was answered, whoever was about to claim")
    func closedAtOnce() async throws {
        let (farm, claimers) = try await two()
        _ = try await farm.submit(repeats: 4)
        for round in 0..<40 {
            async let claiming = claimAll(claimers)
            var reservation: Reservation?
            switch round % 4 {
            case 0: _ = try await farm.store.takeOutOfUse(.farm, .drained, reason: "r", actor: "kim", now: 1)
            case 1: _ = try await farm.store.takeOutOfUse(.host("beta"), .drained, reason: "r", actor: "kim", now: 1)
            case 2: try await farm.store.setLimit(.submitter, "ci", most: 0, actor: "kim", now: 1)
            default:
                reservation = try await farm.store.reserve(
                    slot: "sim-2",
                    batch: nil,
                    label: "model:Other",
                    until: 1000,
                    reason: "r",
                    actor: "kim",
                    now: 1
                )
            }
            // On the parts concerned nothing may begin from here on.
            func open() async throws -> [String] {
                try await farm.store.openAttempts().map(\.slot).filter { round % 2 == 0 || $0 == "sim-2" }
            }
            let answered = try await open()
            let claimed = try await claiming
            #expect(try await open() == answered, "round \(round)")
            try await decline(claimed, farm)
            _ = try await farm.store.resume(.farm, actor: "kim", now: 1)
            _ = try await farm.store.resume(.host("beta"), actor: "kim", now: 1)
            try await farm.store.setLimit(.submitter, "ci", most: nil, actor: "kim", now: 1)
            if let reservation { _ = try await farm.store.endReservation(reservation.id, actor: "kim", now: 2) }
        }
    }

    @Test("A quarantined slot is checked once, however many coordinators look after it")
    func oneHealthCheck() async throws {
        let (farm, claimers) = try await two()
        _ = try await farm.submit(repeats: 8)
        try await farm.end(try #require(try await farm.start("sim-1")), .passed)
        for _ in 0..<3 { try await farm.end(try #require(try await farm.start("sim-1")), .errored) }
        let since = try #require(try await farm.store.services().first).since
        for round in 1...10 {
            let now = since + Int64(round) * Store.healthCheckPause
            let keys = try await withThrowingTaskGroup(of: [String].self) { group in
                for claimer in claimers {
                    group.addTask { try await claimer.store.dueHealthChecks(now: now).map(\.key) }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            #expect(keys.count == 1, "round \(round)")
        }
    }

    @Test(
        "Coordinators that claim, decline, submit and cancel in groups over many lanes never wait for each other in a circle"
    )
    func noDeadlock() async throws {
        let server = try await TestPostgresServer.started()
        let database = try await server.makeDatabase()
        // The server looks for circles before anybody's patience ends.
        let setting = "'ALTER DATABASE %I SET deadlock_timeout = 20', current_database()"
        try await server.sql("DO $$ BEGIN EXECUTE format(\(setting)); END $$", database)
        let farm = try await StoreFixture(.postgres, conninfo: database)
        let stores = [farm.store, try await farm.reopen(), try await farm.reopen()]
        let slots = (1...24).map { "sim-\($0)" }
        for slot in slots { try await farm.addSlot(slot) }
        func submit(_ submitter: String, _ slot: String, _ store: Store) async throws {
            let pins = try #require(try await farm.operation().runs.first?.pins)
            let runs = [SubmittedRun(pins: pins, labels: ["slot": slot]), SubmittedRun(pins: pins, labels: [:])]
            let op = SubmitOp(submitter: submitter, idempotencyKey: nil, runs: runs, priority: 0, now: 3)
            _ = try await store.submit(op)
        }
        for slot in slots {
            for submitter in ["ann", "bob", "cid"] { try await submit(submitter, slot, farm.store) }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            // Each coordinator takes the slots in an order of its own, all at once, so that it has groups.
            for (number, store) in stores.enumerated() {
                for (place, slot) in slots.enumerated() where place % stores.count == number {
                    group.addTask {
                        for round in 0..<20 {
                            let nonce = Hex.encode(RandomBytes.make(16))
                            let claimed = try await store.claim(slot: slot, now: 4, nonce: nonce, timeout: 60_000)
                            try await submit(["ann", "bob", "cid"][(place + round) % 3], slot, store)
                            guard let assignment = claimed else { continue }
                            if round % 4 == 0 {
                                _ = try await store.accept(attempt: assignment.attempt, epoch: assignment.epoch, now: 5)
                                try await farm.end(assignment, round % 8 == 0 ? .passed : .errored, in: store)
                            } else {
                                let cause = OutcomeCause("host-busy", "not now")
                                _ = try await store.decline(
                                    attempt: assignment.attempt,
                                    epoch: assignment.epoch,
                                    cause: cause,
                                    now: 5
                                )
                            }
                        }
                    }
                }
                group.addTask {
                    for _ in 0..<20 { _ = try await store.cancelSubmitter(["ann", "bob", "cid"][number], now: 6) }
                }
            }
            try await group.waitForAll()
        }
        for store in stores { await store.close() }
        // The server's sessions report when they end.
        try await eventually("all sessions have ended") {
            try await farm.statistics(
                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend'"
            ) == "1"
        }
        let deadlocks = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"
        #expect(try await farm.statistics(deadlocks) == "0")
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
