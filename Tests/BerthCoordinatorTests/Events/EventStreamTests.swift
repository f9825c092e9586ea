import BerthCoordinator
import BerthCore
import BerthStore
import BerthSystem
import BerthTestSupport
import Testing

/// `GET /v1/events` and the bounded views beside it, over real HTTP.
@Suite(.timeLimit(.minutes(5)))
struct EventStreamTests {
    /// A reader of the event stream.
    private final class Events {
        private let client: RawClient
        private(set) var text = ""

        init(_ port: UInt16, after last: String? = nil, token: String? = ServedFarm.token) async throws {
            client = try RawClient(port: port)
            let resume = last.map { "Last-Event-ID: \($0)\r\n" } ?? ""
            let authorization = token.map { "Authorization: Bearer \($0)\r\n" } ?? ""
            try await client.send("GET /v1/events HTTP/1.1\r\nHost: h\r\n\(authorization)\(resume)\r\n")
        }

        /// Reads until a text has come; false when the stream ends before.
        func wait(for part: String) async throws -> Bool {
            while !text.contains(part) {
                let bytes = try await client.receive()
                if bytes.isEmpty { return false }
                text += String(decoding: bytes, as: UTF8.self)
            }
            return true
        }

        /// Reads until there is an event about a subject.
        func wait(for topic: String, _ name: String) async throws -> Bool {
            try await wait(for: "data: {\"name\":\"\(name)\",\"topic\":\"\(topic)\"}\n\n")
        }

        var lastID: String? {
            text.split(separator: "\n").last { $0.hasPrefix("id: ") }.map { String($0.dropFirst(4)) }
        }

        func leave() { client.leave() }
    }

    @Test func theLifeOfARunIsTold() async throws {
        try await ServedFarm.run { farm in
            let events = try await Events(farm.port)
            #expect(try await events.wait(for: "event: ready\nid: "))
            #expect(events.text.contains("Content-Type: text/event-stream"))
            #expect(events.text.contains("X-Content-Type-Options: nosniff"))
            try await farm.host.greet()
            try farm.host.join("a")
            #expect(try await events.wait(for: "host", "host-1"))
            #expect(try await events.wait(for: "slot", "a"))
            let batch = try await farm.submit(["update"])
            #expect(try await events.wait(for: "batch", batch.id))
            let assignment = try await farm.assignment(to: "a")
            #expect(try await events.wait(for: "run", assignment.run))
            try farm.accept(assignment, on: "a")

            // Each step is told, and what is then asked for shows it.
            let stepped = try await Events(farm.port)
            #expect(try await stepped.wait(for: "event: ready"))
            try farm.progress(assignment, on: "a", "install correct", 3, of: 9)
            #expect(try await stepped.wait(for: "slot", "a"))
            let open = try await farm.value([RunView].self, "/v1/runs?state=open")
            #expect(open.map(\.id) == [assignment.run])
            #expect(open.first?.attempts.last?.progress == "install correct (3/9)")
            #expect(open.first?.buildNames == ["legacy", "correct"])

            try farm.end(assignment, on: "a", broken: "item 1 is not found")
            #expect(try await events.wait(for: "ledger", "simulator"))
            let finished = try await farm.value([RunView].self, "/v1/runs?state=finished&last=5")
            #expect(finished.map(\.verdict) == [.failed])
            #expect(!events.text.contains("\"topic\":\"hardware\""))
        }
    }

    @Test func aReaderGoesOnWhereItEnded() async throws {
        try await ServedFarm.run { farm in
            let first = try await Events(farm.port)
            #expect(try await first.wait(for: "event: ready"))
            farm.farm.changes.publish(.init(.run, "seen"))
            #expect(try await first.wait(for: "run", "seen"))
            first.leave()
            farm.farm.changes.publish(.init(.run, "missed-1"), .init(.run, "missed-2"))
            let last = try #require(first.lastID)
            let second = try await Events(farm.port, after: last)
            #expect(try await second.wait(for: "run", "missed-2"))
            #expect(second.text.contains("missed-1") && !second.text.contains("seen"))
            #expect(!second.text.contains("resync"))

            // A coordinator that was started since knows nothing of the place.
            let other = try await Events(farm.port, after: "00000000-1")
            #expect(try await other.wait(for: "event: resync\nid: "))
            let nonsense = try await Events(farm.port, after: "yesterday")
            #expect(try await nonsense.wait(for: "malformed-event-id"))
        }
    }

    @Test func aReaderThatTakesNothingCostsABoundedAmountAndHarmsNobody() async throws {
        try await ServedFarm.run { farm in
            let stuck = try await Events(farm.port)
            let lively = try await Events(farm.port)
            #expect(try await stuck.wait(for: "event: ready"))
            #expect(try await lively.wait(for: "event: ready"))
            // Far more than sockets and buffers hold: what does not fit becomes one resync.
            let name = String(repeating: "x", count: 200)
            for round in 0..<200 {
                for number in 0..<500 { farm.farm.changes.publish(.init(.run, "\(name)-\(round)-\(number)")) }
            }
            // A notice that finds a reader behind becomes part of its resync, so this one is told until both have it.
            let teller = Task {
                while !Task.isCancelled {
                    farm.farm.changes.publish(.init(.run, "after"))
                    try await Task.sleep(for: .milliseconds(20))
                }
            }
            defer { teller.cancel() }
            #expect(try await lively.wait(for: "run", "after"))
            // 100,000 notices of 300 bytes were published; the stuck reader is owed a small part of that.
            #expect(try await stuck.wait(for: "run", "after"))
            #expect(stuck.text.contains("event: resync"))
            #expect(stuck.text.utf8.count < 12 << 20, "\(stuck.text.utf8.count) bytes")
        }
    }

    @Test func aStreamEndsWithItsToken() async throws {
        try await ServedFarm.run { farm in
            let answer = try await farm.post("/v1/tokens", TokenRequest(name: "eve", role: .viewer))
            let made = try CanonicalJSON.decode(TokenView.self, from: answer.body, document: "token")
            let token: String = try #require(made.token)
            let theirs = try await Events(farm.port, token: token)
            let other = try await Events(farm.port)
            #expect(try await theirs.wait(for: "event: ready"))
            #expect(try await other.wait(for: "event: ready"))
            #expect(try await farm.post("/v1/tokens/eve/revoke", [String: String]()).status == 200)
            #expect(try await theirs.wait(for: "0\r\n\r\n"))
            farm.farm.changes.publish(.init(.run, "after"))
            #expect(try await other.wait(for: "run", "after"))
            #expect(farm.farm.changes.subscribers == 1)
        }
    }

    @Test func nothingIsToldWithoutAToken() async throws {
        try await ServedFarm.run { farm in
            for token in [nil, "wrong"] {
                for path in ["events", "status", "runs?state=open", "ledgers/simulator?last=3", "verdicts"] {
                    let answer = try await farm.get("/v1/\(path)", token: token)
                    #expect(answer.status == 401, "\(path)")
                    #expect(answer.text.contains("\"unauthorized\""))
                }
            }
            #expect(farm.farm.changes.subscribers == 0)
        }
    }

    @Test func theViewsOfAWatcherAreBoundedAndJudgedByTheGivenPolicies() async throws {
        let own = GatePolicy(name: "own", requirements: [.init(platform: .linuxSimulated, cases: ["update"])])
        try await ServedFarm.run(policies: [.standard, own]) { farm in
            #expect(try await farm.value([PathVerdicts].self, "/v1/verdicts").isEmpty)
            try await farm.host.greet()
            try farm.host.join("a")
            try await eventually("the slot has joined") { try await !farm.store.slots().isEmpty }
            _ = try await farm.submit(["update", "restart", "fresh-install"])
            for number in 1...2 {
                let assignment = try await farm.assignment(to: "a", number: number)
                try farm.accept(assignment, on: "a")
                try farm.end(assignment, on: "a")
            }
            try await eventually("two have ended") { try await farm.store.ledgerHead(.simulator).length == 2 }
            _ = try await farm.assignment(to: "a", number: 3)
            let latest = try await farm.value(LedgerView.self, "/v1/ledgers/simulator?last=1")
            #expect(latest.entries.map(\.sequence) == [2] && latest.head.length == 2)
            #expect(try await farm.value([RunView].self, "/v1/runs?state=finished&last=1").count == 1)
            let verdicts = try await farm.value([PathVerdicts].self, "/v1/verdicts")
            #expect(verdicts.map(\.buildNames) == [["legacy", "correct"]])
            #expect(verdicts.first?.reports.map(\.policy) == ["standard", "own"])
            #expect(verdicts.first?.reports.map(\.verdict) == [.incomplete, .pass])
            #expect(verdicts.first?.reports.map { $0.heads.map(\.ledger) } == [[.simulator, .hardware], [.simulator]])
            for path in ["runs?state=other", "runs", "runs?state=finished&last=0", "ledgers/simulator?last=many"] {
                #expect(try await farm.get("/v1/\(path)").status == 400, "\(path)")
            }
        }
    }
}
