import BerthCoordinator
import BerthCore
import BerthSystem
import BerthTestSupport
import Foundation
import Synchronization
import Testing

@Suite("HTTP server", .timeLimit(.minutes(5)))
struct HTTPServerTests {
    /// Runs a test's body with a started server and stops it afterwards.
    private func withServer(
        limits: HTTPLimits = HTTPLimits(),
        handler: @escaping @Sendable (HTTPRequest) async -> HTTPResponse,
        _ body: (UInt16) async throws -> Void
    ) async throws {
        let server = HTTPServer(port: 0, limits: limits, handler: handler)
        let port = try server.start()
        let result: Result<Void, any Error>
        do {
            result = .success(try await body(port))
        } catch {
            result = .failure(error)
        }
        await server.stop()
        try result.get()
    }

    private func curl(_ arguments: [String]) async throws -> String {
        let result = try await CommandRunner.run(
            ProcessSpecification(executable: "/usr/bin/curl", arguments: ["-sS", "--max-time", "120"] + arguments),
            timeout: .seconds(130),
            outputLimit: 1 << 20
        )
        #expect(result.termination == .exited(0), "\(String(decoding: result.errorOutput, as: UTF8.self))")
        return String(decoding: result.output, as: UTF8.self)
    }

    @Test("A request arrives with its parts decoded, and several go over one connection")
    func requestParts() async throws {
        let handler: @Sendable (HTTPRequest) async -> HTTPResponse = { request in
            let parts = [
                request.method, request.path, request.segments.joined(separator: "|"),
                request.query.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: "|"),
                request.headers["x-thing"] ?? "none", String(decoding: request.body, as: UTF8.self), request.peer,
            ]
            return HTTPResponse(
                status: 201,
                headers: ["X-Kind": "echo"],
                body: .bytes(Array(parts.joined(separator: "\n").utf8))
            )
        }
        try await withServer(handler: handler) { port in
            let client = try RawClient(port: port)
            for round in 0..<3 {
                let body = Array("round \(round)".utf8)
                try await client.send(
                    "POST /v1/a%2Fb//c%20d?x=1&name=J%C3%BCrg+B&flag HTTP/1.1\r\nHost: h\r\nX-THING: yes\r\n"
                        + "Content-Length: \(body.count)\r\n\r\n",
                    body
                )
                let answer = try await client.answer()
                #expect(answer.status == 201)
                #expect(answer.head.contains("X-Kind: echo"))
                #expect(
                    answer.text
                        == "POST\n/v1/a%2Fb//c%20d\nv1|a/b|c d\nflag=|name=Jürg B|x=1\nyes\nround \(round)\n127.0.0.1"
                )
            }
            try await client.send("HEAD /v1/x HTTP/1.1\r\nHost: h\r\n\r\n")
            let head = try await client.answer(hasBody: false)
            #expect(head.status == 201)
            #expect(head.head.contains("Content-Length: 32"))
            try await client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
            #expect(try await client.answer().text.hasPrefix("GET\n/\n"))
        }
    }

    @Test(
        "What is malformed is answered with 400 and the handler never sees it",
        arguments: [
            "GET /bad%zz HTTP/1.1\r\nHost: h\r\n\r\n",
            "GET /bad%00 HTTP/1.1\r\nHost: h\r\n\r\n",
            "GET /bad%ff HTTP/1.1\r\nHost: h\r\n\r\n",
            "GET /a/%2e%2e/b HTTP/1.1\r\nHost: h\r\n\r\n",
            "GET /a?x=1&x=2 HTTP/1.1\r\nHost: h\r\n\r\n",
            "GET /a?x=%4 HTTP/1.1\r\nHost: h\r\n\r\n",
            "GET /a HTTP/1.1\r\n\r\n",
            "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: many\r\n\r\n",
        ]
    )
    func malformed(request: String) async throws {
        let seen = Atomic(false)
        try await withServer(handler: { _ in
            seen.store(true, ordering: .relaxed)
            return HTTPResponse(status: 200)
        }) { port in
            let client = try RawClient(port: port)
            try await client.send(request)
            #expect(try await client.answer().status == 400)
            let wasSeen = seen.load(ordering: .relaxed)
            #expect(!wasSeen)
        }
    }

    @Test("64 requests are in their handlers at one time, while another client dawdles over its headers")
    func concurrency() async throws {
        let arrived = Atomic(0)
        let (gate, opener) = AsyncStream<Void>.makeStream()
        let opened = Task { for await _ in gate {} }
        try await withServer(handler: { request in
            if arrived.add(1, ordering: .sequentiallyConsistent).newValue == 64 { opener.finish() }
            await opened.value
            return HTTPResponse(status: 200, body: .bytes(Array(request.path.utf8)))
        }) { port in
            let slow = try RawClient(port: port)
            try await slow.send("GET /slow HTTP/1.1\r\nHo")
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<64 {
                    group.addTask {
                        let client = try RawClient(port: port)
                        try await client.send("GET /\(number) HTTP/1.1\r\nHost: h\r\n\r\n")
                        #expect(try await client.answer().text == "/\(number)")
                    }
                }
                try await group.waitForAll()
            }
            try await slow.send("st: h\r\n\r\n")
            #expect(try await slow.answer().text == "/slow")
        }
    }

    @Test("A body over the limit is answered with 413 and a reason, and the connection goes on")
    func oversizedBody() async throws {
        let limits = HTTPLimits(maxBodyBytes: { method, path in method == "PUT" && path == "/big" ? 2 << 20 : 1000 })
        try await withServer(limits: limits, handler: { HTTPResponse(status: 200, body: .bytes($0.body)) }) { port in
            let client = try RawClient(port: port)
            let body = [UInt8](repeating: 65, count: 1 << 20)
            try await client.send("PUT /other HTTP/1.1\r\nHost: h\r\nContent-Length: \(body.count)\r\n\r\n", body)
            let refused = try await client.answer()
            #expect(refused.status == 413)
            let reason = try JSONDecoder().decode(ErrorBody.self, from: Data(refused.body))
            #expect(reason.error.code == "body-too-large")
            #expect(reason.error.message.contains("1000"))
            // Chunked: nothing is declared, so only counting finds it.
            try await client.send("PUT /other HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n")
            for _ in 0..<4 { try await client.send("200\r\n" + String(repeating: "b", count: 512) + "\r\n") }
            try await client.send("0\r\n\r\n")
            #expect(try await client.answer().status == 413)
            try await client.send("PUT /big HTTP/1.1\r\nHost: h\r\nContent-Length: \(body.count)\r\n\r\n", body)
            let taken = try await client.answer()
            #expect(taken.status == 200)
            #expect(taken.body == body)
            // Who asks first is told before the body is sent.
            try await client.send(
                "PUT /other HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 99999999999\r\n\r\n"
            )
            #expect(try await client.answer().status == 413)
        }
    }

    @Test("20 MiB go up and down intact, from memory, from a file and as a stream")
    func largeBodies() async throws {
        let directory = try TemporaryDirectory()
        // Blocks whose size fits no buffer's, so that a lost or doubled part is seen.
        let block = RandomBytes.make((64 << 10) + 13)
        var bytes: [UInt8] = []
        while bytes.count < 20 << 20 { bytes += block }
        bytes.removeLast(bytes.count - 20 << 20)
        let sent = bytes
        try Data(sent).write(to: URL(fileURLWithPath: directory.path + "/data"))
        let limits = HTTPLimits(maxBodyBytes: { _, _ in 32 << 20 })
        try await withServer(
            limits: limits,
            handler: { request in
                switch request.segments.first {
                case "digest":
                    return HTTPResponse(
                        status: 200,
                        body: .bytes(Array(Hex.encode(SHA256.digest(of: request.body)).utf8))
                    )
                case "bytes": return HTTPResponse(status: 200, body: .bytes(sent))
                case "file":
                    return HTTPResponse(status: 200, body: .file(path: directory.path + "/data", size: 20 << 20))
                case "missing": return HTTPResponse(status: 200, body: .file(path: directory.path + "/no", size: 1))
                default:
                    return HTTPResponse(
                        status: 200,
                        body: .stream(
                            AsyncStream { continuation in
                                for start in stride(from: 0, to: sent.count, by: 50_000) {
                                    continuation.yield(Array(sent[start..<min(start + 50_000, sent.count)]))
                                }
                                continuation.finish()
                            }
                        )
                    )
                }
            }
        ) { port in
            let base = "http://127.0.0.1:\(port)"
            let digest = Hex.encode(SHA256.digest(of: sent))
            #expect(try await curl(["-T", directory.path + "/data", base + "/digest"]) == digest)
            for source in ["bytes", "file", "stream"] {
                _ = try await curl(["-o", directory.path + "/back", "\(base)/\(source)"])
                let back = try Data(contentsOf: URL(fileURLWithPath: directory.path + "/back"))
                #expect(Hex.encode(SHA256.digest(of: back)) == digest, "\(source)")
            }
            #expect(try await curl(["-w", "%{http_code}", base + "/missing"]).hasSuffix("}500"))
        }
    }

    @Test("Events arrive when they are sent; an idle stream is kept alive; a client that left ends it")
    func eventStream() async throws {
        let (events, source) = AsyncStream<[UInt8]>.makeStream()
        let (terminated, terminator) = AsyncStream<Void>.makeStream()
        source.onTermination = { _ in terminator.finish() }
        let limits = HTTPLimits(eventStreamKeepalive: .milliseconds(50))
        try await withServer(
            limits: limits,
            handler: { _ in
                HTTPResponse(status: 200, headers: ["Content-Type": "text/event-stream"], body: .stream(events))
            }
        ) { port in
            let client = try RawClient(port: port)
            try await client.send("GET /events HTTP/1.1\r\nHost: h\r\n\r\n")
            for number in 0..<5 {
                source.yield(Array("data: event \(number)\n\n".utf8))
                #expect(try await client.receive(until: "event \(number)").contains("event \(number)"))
            }
            #expect(try await client.receive(until: ":\n\n").contains(":\n\n"))
            client.leave()
            for await _ in terminated {}
        }
    }

    @Test("Clients that leave early, in any phase, harm nobody")
    func earlyLeavers() async throws {
        let directory = try TemporaryDirectory()
        try Data(count: 8 << 20).write(to: URL(fileURLWithPath: directory.path + "/data"))
        let (arrivals, arrival) = AsyncStream<Void>.makeStream()
        let (gate, opener) = AsyncStream<Void>.makeStream()
        let opened = Task { for await _ in gate {} }
        try await withServer(handler: { request in
            switch request.path {
            case "/wait":
                arrival.yield()
                await opened.value
                return HTTPResponse(status: 200, body: .bytes([UInt8](repeating: 1, count: 1 << 20)))
            case "/file": return HTTPResponse(status: 200, body: .file(path: directory.path + "/data", size: 8 << 20))
            default: return HTTPResponse(status: 200, body: .bytes(Array("here".utf8)))
            }
        }) { port in
            var waiting = 0
            for _ in 0..<20 {
                let beforeBody = try RawClient(port: port)
                try await beforeBody.send("POST /wait HTTP/1.1\r\nHost: h\r\nContent-Length: 100\r\n\r\nabc")
                beforeBody.leave()
                let duringHandler = try RawClient(port: port)
                try await duringHandler.send("GET /wait HTTP/1.1\r\nHost: h\r\n\r\n")
                waiting += 1
                for await _ in arrivals.prefix(1) {}
                duringHandler.leave()
                let duringDownload = try RawClient(port: port)
                try await duringDownload.send("GET /file HTTP/1.1\r\nHost: h\r\n\r\n")
                #expect(try await !duringDownload.receive().isEmpty)
                duringDownload.leave()
            }
            opener.finish()
            let client = try RawClient(port: port)
            try await client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
            #expect(try await client.answer().text == "here")
        }
    }

    @Test("Stopping lets a handler finish, gives one that does not 503, ends streams and accepts nobody")
    func stopping() async throws {
        let (arrivals, arrival) = AsyncStream<Void>.makeStream()
        let (gate, opener) = AsyncStream<Void>.makeStream()
        let opened = Task { for await _ in gate {} }
        let (never, neverEnder) = AsyncStream<Void>.makeStream()
        let blocked = Task { for await _ in never {} }
        let (endless, endlessSource) = AsyncStream<[UInt8]>.makeStream()
        let server = HTTPServer(port: 0, limits: HTTPLimits(stopTimeout: .milliseconds(500))) { request in
            arrival.yield()
            switch request.path {
            case "/short": await opened.value
            case "/long": await blocked.value
            default: return HTTPResponse(status: 200, body: .stream(endless))
            }
            return HTTPResponse(status: 200, body: .bytes(Array("done".utf8)))
        }
        let port = try server.start()
        #expect(throws: HTTPServerError.alreadyStarted) { try server.start() }
        let rival = HTTPServer(port: port) { _ in HTTPResponse(status: 200) }
        let error = #expect(throws: HTTPServerError.self) { try rival.start() }
        #expect("\(try #require(error))".contains("port \(port)"))

        var arrivalIterator = arrivals.makeAsyncIterator()
        let clients = try ["/short", "/long", "/stream"].map { (path: $0, client: try RawClient(port: port)) }
        for (path, client) in clients {
            try await client.send("GET \(path) HTTP/1.1\r\nHost: h\r\n\r\n")
            await arrivalIterator.next()
        }
        endlessSource.yield(Array("first".utf8))
        #expect(try await clients[2].client.receive(until: "first").contains("first"))
        async let stopped: Void = server.stop()
        // The stream's end says that stopping has begun.
        #expect(try await clients[2].client.receive(until: "0\r\n\r\n").hasSuffix("0\r\n\r\n"))
        #expect(throws: SystemError.self) { try RawClient(port: port) }
        opener.finish()
        #expect(try await clients[0].client.answer().text == "done")
        #expect(try await clients[1].client.answer().status == 503)
        await stopped
        neverEnder.finish()
        await server.stop()
    }
}
