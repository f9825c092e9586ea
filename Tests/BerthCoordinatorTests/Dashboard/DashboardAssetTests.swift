import BerthCoordinator
import BerthSystem
import Testing

/// The page as the coordinator gives it away, before anybody is signed in.
@Suite(.timeLimit(.minutes(1)))
struct DashboardAssetTests {
    @Test func thePageAndItsFilesNeedNoTokenAndHoldNoData() async throws {
        try await ServedFarm.run { farm in
            let page = try await farm.get("/", token: nil)
            #expect(page.status == 200)
            #expect(page.head.contains("Content-Type: text/html; charset=utf-8"))
            // Everything that the page names is there, and names nothing of another place.
            let named = page.text.matches(of: /(?:src|href)="([^"#]+)"/).map { String($0.1) }
            #expect(named.count >= 3)
            for path in named {
                #expect(path.hasPrefix("/assets/"))
                #expect(try await farm.get(path, token: nil).status == 200, "\(path)")
            }
            let script = try await farm.get("/assets/main.js", token: nil)
            for module in script.text.matches(of: /from "\.\/([a-z]+\.js)"/).map({ String($0.1) }) {
                #expect(try await farm.get("/assets/\(module)", token: nil).status == 200, "\(module)")
            }
            for text in [page.text, script.text] {
                #expect(!text.contains("host-1") && !text.contains("legacy"))
            }
            for path in ["/assets/", "/assets/index.html", "/assets/x/main.js", "/assets/%2e%2e/store.sqlite"] {
                #expect([400, 404].contains(try await farm.get(path, token: nil).status), "\(path)")
            }
        }
    }

    @Test func thePageLetsNothingRunButItsOwnFiles() async throws {
        try await ServedFarm.run { farm in
            for path in ["/", "/assets/main.js", "/assets/style.css"] {
                let head = try await farm.get(path, token: nil).head
                let policy = try #require(head.firstMatch(of: /Content-Security-Policy: ([^\r]+)/)).1
                let directives = Set(policy.split(separator: "; "))
                #expect(
                    directives.isSuperset(of: [
                        "default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'",
                        "frame-ancestors 'none'", "form-action 'none'", "base-uri 'none'",
                        "require-trusted-types-for 'script'",
                    ]),
                    "\(path)"
                )
                #expect(!policy.contains("unsafe"))
                for header in [
                    "X-Content-Type-Options: nosniff", "Referrer-Policy: no-referrer", "X-Frame-Options: DENY",
                    "Cross-Origin-Resource-Policy: same-origin",
                ] {
                    #expect(head.contains(header), "\(path) has no \(header)")
                }
                #expect(!head.contains("Set-Cookie"))
            }
            let page = try await farm.get("/", token: nil).text
            #expect(!page.contains("style=") && !page.contains("<style") && !page.contains("onclick"))
            #expect(page.matches(of: /<script[^>]*>/).allSatisfy { $0.0.contains("src=") })
        }
    }

    @Test func aBrowserThatHasThePresentFileIsNotSentItAgain() async throws {
        try await ServedFarm.run { farm in
            let head = try await farm.get("/assets/style.css", token: nil).head
            let tag = try #require(head.firstMatch(of: /ETag: ([^\r]+)/)).1
            let client = try RawClient(port: farm.port)
            try await client.send("GET /assets/style.css HTTP/1.1\r\nHost: h\r\nIf-None-Match: \(tag)\r\n\r\n")
            #expect(try await client.answer(hasBody: false).status == 304)
            try await client.send("GET /assets/style.css HTTP/1.1\r\nHost: h\r\nIf-None-Match: \"other\"\r\n\r\n")
            #expect(try await client.answer().status == 200)
        }
    }
}
