import BerthArchive
import BerthCoordinator
import BerthCore
import BerthStore
import BerthTestSupport
import Testing

/// What each role may do over HTTP.
@Suite(.timeLimit(.minutes(3)))
struct RoleTests {
    private func token(_ name: String, _ role: TokenRole, _ farm: ServedFarm) async throws -> String {
        let answer = try await farm.post("/v1/tokens", TokenRequest(name: name, role: role))
        #expect(answer.status == 201)
        let made = try CanonicalJSON.decode(TokenView.self, from: answer.body, document: "token")
        return try #require(made.token)
    }

    private func code(_ answer: RawClient.Answer) throws -> String {
        "\(answer.status) "
            + (try CanonicalJSON.decode(ErrorBody.self, from: answer.body, document: "refusal").error.code)
    }

    private let batch = BatchRequest(
        old: "legacy",
        new: ["correct"],
        cases: ["update"],
        platform: .linuxSimulated,
        os: "latest",
        repeats: 1,
        priority: 0
    )

    @Test func aViewerLooksAtEverythingAndChangesNothing() async throws {
        try await ServedFarm.run { farm in
            try await farm.host.greet()
            try farm.host.join("a")
            try await eventually("the slot is known") { try await farm.store.slots().count == 1 }
            let viewer = try await token("eve", .viewer, farm)
            for path in ["/v1/status", "/v1/hosts", "/v1/batches", "/v1/audit", "/v1/slots/a/why", "/v1/tokens"] {
                #expect(try await farm.get(path, token: viewer).status == 200, "\(path)")
            }
            let gate = GateRequest(policy: nil, old: "legacy", new: "correct")
            #expect(try await farm.post("/v1/gate", gate, token: viewer).status == 200)
            let refused: [(String, any Encodable & Sendable)] = [
                ("/v1/batches", batch), ("/v1/hosts", StandInHost.record),
                ("/v1/slots/a/drain", ServiceRequest(reason: "r")), ("/v1/farm/resume", [String: String]()),
                ("/v1/tokens", TokenRequest(name: "mallory", role: .admin)),
                ("/v1/limits", LimitRequest(subject: .submitter, name: "ci", most: 0)),
            ]
            for (path, body) in refused {
                #expect(try code(try await farm.post(path, body, token: viewer)) == "403 forbidden", "\(path)")
            }
            #expect(try await farm.store.batches(limit: 10).isEmpty)
            #expect(try await farm.store.services().isEmpty)
            #expect(try await farm.store.tokens().map(\.name) == ["eve", "test"])
        }
    }

    @Test func aSubmitterSubmitsAndCancelsItsOwnOnly() async throws {
        try await ServedFarm.run { farm in
            try await farm.host.greet()
            try farm.host.join("a")
            try await eventually("the slot is known") { try await farm.store.slots().count == 1 }
            _ = try await farm.post("/v1/slots/a/drain", ServiceRequest(reason: "so that runs wait"))
            let others = try await farm.submit(["update"])
            let ci = try await token("ci", .submitter, farm)
            let answer = try await farm.post("/v1/batches", batch, token: ci)
            #expect(answer.status == 201)
            let own = try CanonicalJSON.decode(BatchView.self, from: answer.body, document: "batch")
            #expect(own.submitter == "ci")
            let nothing = [String: String]()
            let othersRun = try #require(others.runs.first?.id)
            for part in ["batches/\(others.id)", "runs/\(othersRun)", "submitters/test"] {
                let path = "/v1/\(part)/cancel"
                #expect(try code(try await farm.post(path, nothing, token: ci)) == "403 not-yours", "\(path)")
            }
            #expect(try code(try await farm.post("/v1/batches/b-99/cancel", nothing, token: ci)) == "404 unknown-batch")
            for path in ["/v1/slots/a/resume", "/v1/hosts/host-1/doctor", "/v1/tokens/test/revoke"] {
                #expect(try code(try await farm.post(path, nothing, token: ci)) == "403 forbidden", "\(path)")
            }
            let ownRun = try #require(own.runs.first?.id)
            #expect(try await farm.post("/v1/runs/\(ownRun)/cancel", nothing, token: ci).status == 200)
            #expect(try await farm.store.run(id: ownRun).verdict == .cancelled)
            #expect(try await farm.store.run(id: othersRun).verdict == nil)
        }
    }

    @Test func noBodyIsTakenFromWhoMayNotSendIt() async throws {
        try await ServedFarm.run { farm in
            let viewer = try await token("eve", .viewer, farm)
            let path = "/v1/blobs/\(Digest.sha256(of: [1]).hex)"
            for (token, refusal) in [("wrong", "401 unauthorized"), (viewer, "403 forbidden")] {
                let client = try RawClient(port: farm.port)
                // Of the 512 MiB not one byte is sent.
                try await client.send(
                    "PUT \(path) HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer \(token)\r\n"
                        + "Content-Length: \(API.blobLimit)\r\n\r\n"
                )
                #expect(try code(try await client.answer()) == refusal)
                // A short one is dropped, and the connection goes on.
                let small = try RawClient(port: farm.port)
                for framing in [
                    "Content-Length: 3\r\n\r\nabc", "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
                ] {
                    try await small.send(
                        "PUT \(path) HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer \(token)\r\n\(framing)"
                    )
                    #expect(try code(try await small.answer()) == refusal)
                }
            }
            let body = [UInt8]([1])
            let client = try RawClient(port: farm.port)
            for (framing, status) in [
                ("Content-Length: 1\r\n\r\n\u{1}", 201),
                ("Transfer-Encoding: chunked\r\n\r\n1\r\n\u{1}\r\n0\r\n\r\n", 200),
                ("Expect: 100-continue\r\nContent-Length: 1\r\n\r\n", 100),
            ] {
                try await client.send(
                    "PUT \(path) HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer \(ServedFarm.token)\r\n\(framing)"
                )
                #expect(try await client.answer().status == status)
            }
            try await client.send("", body)
            #expect(try await client.answer().status == 200)
        }
    }

    @Test func aRevokedTokenIsWorthlessAndTheLastOperatorStays() async throws {
        try await ServedFarm.run { farm in
            let nothing = [String: String]()
            #expect(try code(try await farm.post("/v1/tokens/test/revoke", nothing)) == "409 last-operator")
            let kim = try await token("kim", .operator, farm)
            #expect(try await farm.post("/v1/tokens/test/revoke", nothing, token: kim).status == 200)
            #expect(try code(try await farm.get("/v1/status")) == "401 unauthorized")
            #expect(try code(try await farm.post("/v1/tokens/kim/revoke", nothing, token: kim)) == "409 last-operator")
            #expect(try code(try await farm.post("/v1/tokens/lee/revoke", nothing, token: kim)) == "404 unknown-token")
            let taken = TokenRequest(name: "kim", role: .viewer)
            #expect(try code(try await farm.post("/v1/tokens", taken, token: kim)) == "409 token-taken")
            let reserved = TokenRequest(name: "berth-health-check", role: .submitter)
            #expect(try code(try await farm.post("/v1/tokens", reserved, token: kim)) == "400 malformed-name")
            let actions = try await farm.store.audit(limit: 10).map(\.action)
            #expect(actions == ["token-added", "token-revoked"])
        }
    }
}
