import BerthArchive
import BerthCoordinator
import BerthCore
import BerthStore
import BerthSystem
import BerthTestSupport
import Testing

/// What a coordinator does without its database, and what one says of hosts that another one holds.
@Suite(.timeLimit(.minutes(5)))
struct SeveralFarmsTests {
    @Test func anOutageOfTheDatabaseShorterThanALeaseEndsNoChannelAndNoAttempt() async throws {
        let server = try await TestPostgresServer()
        let database = try await server.makeDatabase()
        try await FarmFixture.with(lease: .seconds(20), postgres: database) { fixture in
            let batch = try await fixture.submit(runs: 1)
            try await fixture.host.greet()
            try fixture.host.join("a")
            let assignment = try await fixture.assignment(to: "a")
            let running = AttemptReference(attempt: assignment.attempt, epoch: assignment.epoch)
            try fixture.host.say(.accepted(running), route: "a")
            try await eventually("it is being executed") {
                try await fixture.store.openAttempts().map(\.state) == [.running]
            }
            try await server.kill()
            // An agent comes anew, another one for the first time: both wait for the database, and live meanwhile.
            try fixture.host.join("a", running: running)
            try fixture.host.join("b")
            let before = ["a", "b"].map { fixture.host.renewals(to: $0) }
            for sequence in 1...30 {
                for (slot, attempt) in [("a", running), ("b", nil)] {
                    let heartbeat = Heartbeat(sequence: UInt64(sequence), running: attempt)
                    try fixture.host.say(.heartbeat(heartbeat), route: slot)
                }
                try await Task.sleep(for: .milliseconds(50))
            }
            try await eventually("all heartbeats are answered without the database") {
                zip(["a", "b"], before).allSatisfy { fixture.host.renewals(to: $0) == $1 + 30 }
            }
            try fixture.host.say(.result(try fixture.report(assignment, evidence: .sha256(of: []))), route: "a")
            try await server.start()
            try await eventually("the result is recorded") {
                fixture.host.messages(to: "a").contains(
                    .recorded(Acknowledgement(attempt: running.attempt, epoch: running.epoch, filing: .recorded))
                )
            }
            try await eventually("the new slot is known") { try await fixture.store.slots().map(\.name) == ["a", "b"] }
            let run = try await fixture.store.run(id: batch.runs[0].id)
            #expect(run.verdict == .passed && run.attempts.count == 1, "\(run.attempts.map(\.cause))")
            #expect(fixture.host.connections == 1)
            let cancellations = fixture.host.messages(to: "a").count { if case .cancel = $0 { true } else { false } }
            #expect(cancellations == 0)
        }
    }

    @Test func aCoordinatorSaysWhoHoldsASlotAndWhatIsKnownOfIt() async throws {
        let database = try await TestPostgresServer.started().makeDatabase()
        try await FarmFixture.with(postgres: database) { fixture in
            try await fixture.host.greet()
            let places = SlotPlaces(slot: "a", machine: "m", user: "u", agent: "a", state: "s", xcrun: "x", lock: "l")
            let kept = KeptDevice(udid: "AB12", stage: .preserved, run: "r-1", attempt: "a-1", since: 5)
            let full = OutcomeCause("preserved-budget-full", "1 device is preserved: release some")
            try fixture.host.join("a", keeping: SlotKeeping(devices: [kept], refusal: full, places: places))
            try fixture.host.join("b")
            try await eventually("both slots are known") { try await fixture.store.slots().count == 2 }
            let store = try await Store.open(postgres: database, coordinator: "z-other")
            let other = Farm(
                name: "z-other",
                store: store,
                archive: try CoordinatorArchive(path: fixture.archive),
                leases: LeasePolicy(),
                open: { _ in throw CancellationError() }
            )
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await other.run(url: "http://other.example:8750") }
                try await eventually("the other one knows why the slot takes no run") {
                    try await other.why(slot: "a").reasons == [full.description]
                }
                let why = try await other.why(slot: "b")
                #expect(why.reasons.isEmpty, "its agent is connected, to another coordinator: \(why)")
                #expect(why.summary.contains("test (http://test.example:8750)"), "\(why)")
                let device = try #require(try await other.devices().first)
                #expect(device.device.udid == "AB12" && device.slot == "a")
                do {
                    _ = try await other.release("AB12", unclean: nil, by: "kim")
                    Issue.record("it was ordered")
                } catch {
                    #expect("\(error)".contains("ask test at http://test.example:8750"), "\(error)")
                }
                try fixture.host.say(.closing(Closing(reason: "stopped")), route: "b")
                try await eventually("the other one knows that the agent is gone") {
                    try await other.why(slot: "b").reasons.first?.contains("is not connected to test") == true
                }
                group.cancelAll()
            }
            await store.close()
        }
    }
}
