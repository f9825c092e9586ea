import BerthSystem
import Foundation
import Testing

/// The published snippet and script, unmodified.
@Suite(
    .timeLimit(.minutes(5)),
    .enabled(if: AppFixture.canCompile, "the built Security module, berth-sim or the compiler is absent")
)
struct ArticleTests {
    private static let snippetFile = AppFixture.shared("article/snippet.swift")
    private static let scriptFile = AppFixture.shared("article/upgrade.sh")
    private static let entitlements: [String: any Sendable] = ["application-identifier": "TEAM.com.example.product"]

    private static let main = """

        @main struct Main {
            static func main() {
                if CommandLine.arguments.contains("-add") {
                    let item: [CFString: Any] = [
                        kSecClass: kSecClassGenericPassword, kSecAttrService: "service", kSecAttrAccount: "account",
                        kSecValueData: Data("a token".utf8),
                    ]
                    print("add", SecItemAdd(item as CFDictionary, nil))
                }
                switch readLegacyToken(service: "service", account: "account") {
                case .found(let data): print("found", String(decoding: data, as: UTF8.self))
                case .missing: print("missing")
                case .failed(let status): print("failed", status)
                }
            }
        }
        """

    @Test(
        "The snippet compiles and tells found, missing and failed apart on a device",
        .enabled(
            if: FileManager.default.fileExists(atPath: snippetFile),
            "the article's snippet is absent: \(snippetFile)"
        )
    )
    func snippet() async throws {
        let apps = try AppFixture()
        let article = try String(contentsOfFile: Self.snippetFile, encoding: .utf8)
        let program = try await apps.compile(
            "import Foundation\nimport Security\n\(article)\(Self.main)",
            name: "reader"
        )
        let udid = try await apps.device()
        _ = try await apps.simctl("boot", udid)
        let entitled = try apps.bundle(program, name: "Entitled", entitlements: Self.entitlements)
        let bare = try apps.bundle(program, name: "Bare")
        #expect(try await apps.output(of: entitled, on: udid) == ["missing"])
        #expect(try await apps.output(of: entitled, on: udid, "-add") == ["add 0", "found a token"])
        #expect(try await apps.output(of: bare, on: udid) == ["failed -34018"])
        // The item is still there for a build that may see it, also after a reboot.
        _ = try await apps.simctl("shutdown", udid)
        _ = try await apps.simctl("boot", udid)
        #expect(try await apps.output(of: entitled, on: udid, "-add") == ["add -25299", "found a token"])
        // Without a device the same program says so and how to have one.
        let alone = try await apps.run(program, ["-add"])
        #expect(alone.output == "add -25291\nfailed -25291\n")
        #expect(alone.error.split(separator: "\n").count == 1)
        #expect(alone.error.contains("simctl launch"))
    }

    /// Seeds or verifies, as the script asks, and leaves a status file.
    private static let upgrader = """
        import Foundation
        import Security

        @main struct Main {
            static func main() throws {
                let arguments = CommandLine.arguments
                let folder = NSHomeDirectory() + "/Documents/berth"
                try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
                let item: [CFString: Any] = [
                    kSecClass: kSecClassGenericPassword, kSecAttrService: "service", kSecAttrAccount: "account",
                ]
                var result: CFTypeRef?
                let (name, status): (String, OSStatus)
                if arguments.contains("-UITestSeedLegacyKeychain") {
                    // Long enough that a script which does not wait would cut it short.
                    Thread.sleep(forTimeInterval: 0.3)
                    var new = item
                    new[kSecValueData] = Data("seeded".utf8)
                    (name, status) = ("1-seed", SecItemAdd(new as CFDictionary, nil))
                } else {
                    var query = item
                    query[kSecReturnData] = true
                    (name, status) = ("2-verify", SecItemCopyMatching(query as CFDictionary, &result))
                }
                let text = (result as? Data).map { String(decoding: $0, as: UTF8.self) } ?? ""
                try Data("\\(status) \\(text)".utf8).write(to: URL(fileURLWithPath: "\\(folder)/.\\(name)"))
                try FileManager.default.moveItem(atPath: "\\(folder)/.\\(name)", toPath: "\\(folder)/\\(name).json")
                Thread.sleep(forTimeInterval: 60)
            }
        }
        """

    @Test(
        "The script upgrades the app on a device: the new build reads what the old one wrote",
        .enabled(
            if: FileManager.default.fileExists(atPath: scriptFile),
            "the article's script is absent: \(scriptFile)"
        )
    )
    func script() async throws {
        let apps = try AppFixture()
        let program = try await apps.compile(Self.upgrader, name: "upgrader")
        let udid = try await apps.device()
        let old = try apps.bundle(program, name: "Old", entitlements: Self.entitlements)
        let new = try apps.bundle(program, name: "New", entitlements: Self.entitlements)
        let answer = try await apps.run(
            "/bin/bash",
            [Self.scriptFile],
            environment: apps.environment.merging(
                ["SIMULATOR_UDID": udid, "OLD_APP_PATH": old, "NEW_APP_PATH": new]
            ) { $1 }
        )
        #expect(answer.exit == 0, "\(answer.error)")
        let data = try await apps.simctl("get_app_container", udid, "com.example.product", "data")
        #expect(try String(contentsOfFile: "\(data)/Documents/berth/1-seed.json", encoding: .utf8) == "0 ")
        let verified = "\(data)/Documents/berth/2-verify.json"
        let end = ContinuousClock.now + .seconds(10)
        while !FileManager.default.fileExists(atPath: verified), ContinuousClock.now < end {
            try await Task.sleep(for: .milliseconds(10))
        }
        #expect(try String(contentsOfFile: verified, encoding: .utf8) == "0 seeded")
    }
}
