import BerthCoordinator
import BerthCore
import BerthTestSupport
import Testing

/// What operators do to the farm over HTTP, and what it answers when they ask why.
@Suite(.timeLimit(.minutes(3)))
struct OperationsTests {
    private func joined(_ farm: ServedFarm, _ slots: String...) async throws {
        try await farm.host.greet()
        for slot in slots { try farm.host.join(slot) }
        try await eventually("the slots are idle") {
            try await self.slots(farm).filter { $0.state == .idle }.count == slots.count
        }
    }

    private func slots(_ farm: ServedFarm) async throws -> [SlotView] {
        try await farm.value([HostView].self, "/v1/hosts").flatMap(\.slots)
    }

    @Test(arguments: ["slots/a", "hosts/host-1", "farm"])
    func aPartOutOfUseTakesNoRunAndSaysByWhomAndWhyUntilItIsResumed(part: String) async throws {
        try await ServedFarm.run { farm in
            try await joined(farm, "a")
            let answer = try await farm.post("/v1/\(part)/drain", ServiceRequest(reason: "new cable"))
            #expect(answer.status == 200)
            let service = try CanonicalJSON.decode(ServiceState.self, from: answer.body, document: "service")
            #expect(service.state == .drained && service.actor == "test" && service.reason == "new cable")
            #expect(try await farm.value([ServiceState].self, "/v1/services") == [service])
            let slot = try #require(try await slots(farm).first)
            #expect(slot.services == [service] && slot.condition == "drained")
            // What a reader knows that has never heard of services.
            #expect(slot.state == .held && slot.reason?.code == "drained")
            #expect(try await farm.value(FarmStatus.self, "/v1/status").services == [service])

            let run = try #require(try await farm.submit(["update"]).runs.first?.id)
            let why = try await farm.value(RunWhyView.self, "/v1/runs/\(run)/why")
            #expect(why.ahead == 0 && why.slots.map(\.isMatch) == [true])
            #expect(why.slots.first?.reasons == ["\(service)"])
            #expect(why.slots.first?.reasons.first?.contains("drained by test: new cable") == true)
            let slotWhy = try await farm.value(SlotWhyView.self, "/v1/slots/a/why")
            #expect(slotWhy.reasons == ["\(service)"])
            #expect(slotWhy.waiting == [WaitingReason(count: 1, reasons: ["\(service)"])])
            #expect(farm.host.assignments(to: "a").isEmpty)

            // Work on it replaces the draining; resuming ends either.
            #expect(try await farm.post("/v1/\(part)/maintenance", ServiceRequest(reason: "x")).status == 200)
            let resumed = try await farm.post("/v1/\(part)/resume", [String: String]())
            let view = try CanonicalJSON.decode(ResumedView.self, from: resumed.body, document: "resumed")
            #expect(view.former?.state == .maintenance && view.remaining.isEmpty)
            let assignment = try await farm.assignment(to: "a")
            #expect(assignment.run == run)
            #expect(try await slots(farm).first?.services == nil)
        }
    }

    @Test func aBusySlotEndsItsRunAndOnlyThenStandsStill() async throws {
        try await ServedFarm.run { farm in
            try await joined(farm, "a")
            try await farm.submit(["update", "restart"])
            let first = try await farm.assignment(to: "a")
            try farm.accept(first, on: "a")
            #expect(try await farm.post("/v1/slots/a/drain", ServiceRequest(reason: "r")).status == 200)
            #expect(try await slots(farm).first?.condition == "busy,drained")
            try farm.end(first, on: "a")
            try await eventually("the run has its verdict") {
                try await farm.value(RunView.self, "/v1/runs/\(first.run)").verdict == .passed
            }
            try await eventually("the slot stands still") { try await slots(farm).first?.condition == "drained" }
            #expect(farm.host.assignments(to: "a").count == 1)
            // A host that is drained as well keeps its slot out of use.
            #expect(try await farm.post("/v1/hosts/host-1/drain", ServiceRequest(reason: "h")).status == 200)
            let resumed = try await farm.post("/v1/slots/a/resume", [String: String]())
            let view = try CanonicalJSON.decode(ResumedView.self, from: resumed.body, document: "resumed")
            #expect(view.remaining.map(\.scope) == [.host("host-1")])
            #expect(try await slots(farm).first?.condition == "drained")
        }
    }

    @Test func whatIsWrongIsRefusedWithWhatThereIs() async throws {
        try await ServedFarm.run { farm in
            try await joined(farm, "a", "b")
            for (path, words) in [
                ("slots/c/drain", "there are a, b"), ("slots/c/resume", "there are a, b"),
                ("hosts/other/maintenance", "there are host-1"), ("slots/a/stop", "unknown-path"),
            ] {
                let answer = try await farm.post("/v1/\(path)", ServiceRequest(reason: "r"))
                #expect(answer.status == 404 && answer.text.contains(words), "\(path): \(answer.text)")
            }
            #expect(
                try await farm.post("/v1/slots/a/drain", ServiceRequest(reason: " ")).text.contains("malformed-reason")
            )
            #expect(try await farm.post("/v1/farm/drain", [String: String]()).status == 400)
            #expect(try await farm.get("/v1/slots/c/why").text.contains("there are a, b"))
            #expect(try await farm.get("/v1/runs/r-9/why").text.contains("unknown-run"))
            #expect(
                try await farm.post("/v1/reservations/v-1/end", [String: String]()).text.contains("none is in force")
            )
            #expect(try await farm.value([ServiceState].self, "/v1/services").isEmpty)
        }
    }

    @Test func aReservedSlotServesItsBatchOnlyAndALimitHoldsASubmitterBack() async throws {
        try await ServedFarm.run { farm in
            try await joined(farm, "a")
            #expect(try await farm.post("/v1/farm/drain", ServiceRequest(reason: "prepare")).status == 200)
            let other = try #require(try await farm.submit(["update"]).runs.first?.id)
            let mine = try await farm.submit(["restart"])
            func reserve(_ batch: String?, _ label: String?, _ until: String) async throws -> RawClient.Answer {
                try await farm.post(
                    "/v1/reservations",
                    ReservationRequest(slot: "a", batch: batch, label: label, until: until, reason: "release")
                )
            }
            #expect(try await reserve(mine.id, "host:host-1", "1h").status == 422)
            #expect(try await reserve("b-99", nil, "1h").status == 404)
            #expect(try await reserve(mine.id, nil, "soon").text.contains("malformed-deadline"))
            #expect(try await reserve(mine.id, nil, "2020-01-01T00:00:00Z").status == 422)
            let made = try await reserve(mine.id, nil, "1h")
            #expect(made.status == 201)
            let reservation = try CanonicalJSON.decode(Reservation.self, from: made.body, document: "reservation")
            #expect(reservation.actor == "test" && reservation.batch == mine.id)
            #expect(try await farm.value([Reservation].self, "/v1/reservations") == [reservation])
            #expect(try await slots(farm).first?.reservations == [reservation])

            _ = try await farm.post("/v1/farm/resume", [String: String]())
            let first = try await farm.assignment(to: "a")
            #expect(first.pins.caseName == "restart")
            try farm.accept(first, on: "a")
            try farm.end(first, on: "a")
            try await eventually("only the other batch waits, kept off by the reservation") {
                try await farm.value(RunWhyView.self, "/v1/runs/\(other)/why").slots.first?.reasons
                    == ["reserved for batch \(mine.id) (\(reservation.id) by test)"]
            }

            // Nobody may hold anything now: the end of the reservation changes nothing.
            let limit = LimitRequest(subject: .submitter, name: "test", most: 0)
            #expect(try await farm.post("/v1/limits", limit).status == 200)
            #expect(try await farm.post("/v1/reservations/\(reservation.id)/end", [String: String]()).status == 200)
            #expect(
                try await farm.value(RunWhyView.self, "/v1/runs/\(other)/why").slots.first?.reasons
                    == ["submitter test may hold 0 slots and holds 0"]
            )
            #expect(try await farm.value([LimitView].self, "/v1/limits").map(\.most) == [0])
            _ = try await farm.post("/v1/limits", LimitRequest(subject: .submitter, name: "test", most: nil))
            #expect(try await farm.assignment(to: "a", number: 2).run == other)
            #expect(try await farm.value([LimitView].self, "/v1/limits").isEmpty)
        }
    }

    @Test func deadlinesComeWithSubmissionsAndAllOfASubmitterIsCancelled() async throws {
        try await ServedFarm.run { farm in
            try await joined(farm, "a")
            _ = try await farm.post("/v1/farm/drain", ServiceRequest(reason: "r"))
            func submit(_ deadline: String) async throws -> RawClient.Answer {
                try await farm.post(
                    "/v1/plans",
                    Plan(paths: [["legacy", "correct"]], cases: ["update"], deadline: deadline)
                )
            }
            #expect(try await submit("tomorrow").text.contains("malformed-deadline"))
            #expect(try await submit("2020-01-01T00:00:00Z").status == 422)
            let short = try CanonicalJSON.decode(BatchView.self, from: try await submit("1s").body, document: "batch")
            #expect(short.deadline.map { $0 > short.submittedAt } == true)
            try await eventually("the batch expires") {
                try await farm.value(BatchView.self, "/v1/batches/\(short.id)").runs.map(\.verdict) == [.expired]
            }
            let long = try CanonicalJSON.decode(BatchView.self, from: try await submit("4h").body, document: "batch")
            let answer = try await farm.post("/v1/submitters/test/cancel", [String: String]())
            let cancelled = try CanonicalJSON.decode(SubmitterCancellation.self, from: answer.body, document: "answer")
            #expect(cancelled == SubmitterCancellation(submitter: "test", runs: 1, ending: 0))
            #expect(try await farm.value(BatchView.self, "/v1/batches/\(long.id)").runs.map(\.state) == [.cancelled])
        }
    }

    @Test func eachChangeIsToldOnTheFeed() async throws {
        try await ServedFarm.run { farm in
            try await joined(farm, "a")
            for (part, subject) in [
                ("slots/a", ChangeNotice.Subject(.slot, "a")), ("hosts/host-1", .init(.host, "host-1")),
                ("farm", .init(.host, "")),
            ] {
                let deliveries = farm.farm.changes.subscribe { $0 }
                #expect(try await farm.post("/v1/\(part)/drain", ServiceRequest(reason: "r")).status == 200)
                // Ends with the suite's time limit if it is not told.
                for await case .changes(let notices) in deliveries
                where notices.contains(where: { $0.subject == subject }) {
                    break
                }
            }
        }
    }
}
