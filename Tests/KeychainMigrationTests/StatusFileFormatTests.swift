import Foundation
import Testing

@testable import KeychainMigration

@Suite struct StatusFileFormatTests {
    /// The example of the page of the formats.
    private func example() throws -> [String: Any] {
        var root = URL(fileURLWithPath: #filePath)
        for _ in 0..<3 { root.deleteLastPathComponent() }
        let page = try String(contentsOf: root.appendingPathComponent("docs/formats.md"), encoding: .utf8)
        let start = try #require(page.range(of: "```json status-file\n"))
        let end = try #require(page.range(of: "\n```", range: start.upperBound..<page.endIndex))
        let json = Data(page[start.upperBound..<end.lowerBound].utf8)
        return try #require(try JSONSerialization.jsonObject(with: json) as? [String: Any])
    }

    /// Every key with the path to it; elements of a list share one path.
    private func keys(_ value: Any, _ path: String = "") -> Set<String> {
        switch value {
        case let object as [String: Any]:
            object.reduce(into: []) { keys, entry in
                keys.insert(path + "." + entry.key)
                keys.formUnion(self.keys(entry.value, path + "." + entry.key))
            }
        case let list as [Any]:
            list.reduce(into: []) { $0.formUnion(keys($1, path)) }
        default: []
        }
    }

    @Test("The example on the page and the probe's own file have the same keys and the same steps")
    func sameKeys() throws {
        let fixture = try ProbeFixture()
        let nonce = ["-BerthNonce", ProbeFixture.nonce, "-BerthEpoch", "7"]
        _ = try fixture.status(["-UITestSeedLegacyKeychain"] + nonce, isLegacy: true)
        let outcome = try #require(fixture.launch(["-UITestVerifyKeychainV2"] + nonce))
        let file = try Data(contentsOf: try #require(outcome.statusFile))
        let written = try #require(try JSONSerialization.jsonObject(with: file) as? [String: Any])
        let example = try example()
        #expect(keys(written) == keys(example))
        let steps = { (file: [String: Any]) in (file["steps"] as? [[String: Any]])?.map { $0["what"] as? String } }
        #expect(steps(written) == steps(example))
        #expect(written["format"] as? Int == example["format"] as? Int)
        #expect(written["nonce"] as? String == example["nonce"] as? String)
    }
}
