import BerthCore
import Foundation
import Testing

@testable import berth

/// Failures of the sample builds as a farm recorded them, told by `run show`.
@Suite("Stories of recorded failures")
struct RecordedRunTests {
    /// A recorded run with the evidence that its story needs, by digest.
    private struct Recording: Decodable {
        let run: RunView
        let blobs: [String: String]
    }

    private func recording(_ build: String) throws -> Recording {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        let data = try Data(contentsOf: folder.appendingPathComponent("Recorded/\(build).json"))
        return try JSONDecoder().decode(Recording.self, from: data)
    }

    private func show(
        _ build: String,
        _ words: String...,
        terminal: Console.Size? = nil,
        variables: [String: String] = [:]
    ) async throws -> String {
        let recording = try recording(build)
        let manifest = try #require(recording.run.attempts.last?.report?.evidence)
        let evidence = "/v1/evidence/\(manifest.hex)/"
        let peer = try HTTPPeer { request in
            guard request.path.hasPrefix(evidence) else { return try Sample.answer(recording.run) }
            guard let blob = recording.blobs[String(request.path.dropFirst(evidence.count))] else {
                return try Sample.refusal(404, "unknown-blob")
            }
            return HTTPPeer.Response(body: Array(blob.utf8))
        }
        let cli = CLIFixture(terminal: terminal)
        let program = Program(
            environment: ["BERTH_COORDINATOR": peer.address, "BERTH_TOKEN": "t"].merging(variables) { $1 },
            console: cli.console
        )
        #expect(await program.run(["run", "show", recording.run.id] + words) == .success, "\(cli.errorOutput)")
        return cli.output
    }

    /// Words in a row, whatever the line breaks.
    private func flat(_ text: String) -> String { text.split(whereSeparator: \.isWhitespace).joined(separator: " ") }

    @Test(
        "Each fault is told on one screen, by its rule and in a sentence",
        arguments: [
            (
                "group-changed", "M5",
                "(S1) the old item lies in access group EXAMPLE42.com.example.product, which the new build's"
                    + " entitlements no longer list"
            ), ("renamed-query", "G1", "and the new build did not move it: its query changed"),
            ("accessibility-filter", "G1", "(C1) the app's query did not find the old item, which is still there"),
            ("claims-success", "G1", "although the app claims to have migrated"),
            ("deletes-corrupt", "G3", "(G3) the new build deleted the old item because its content is malformed"),
            (
                "delete-first", "C2",
                "(C2) the new build deleted the old item before the new one was there, and then its write answered -25291"
                    + " errSecNotAvailable"
            ), ("trusts-marker", "C4", "and the new build did not move it: it believed its marker (version 2)"),
            ("broad-delete", "E1", "(E1) of 3 items that are not the migration's 0 are left"),
            ("writes-again", "G2", "(G2) the second start says already-migrated and that it wrote nothing"),
        ]
    )
    func oneScreen(build: String, rule: String, sentence: String) async throws {
        let text = try await show(build)
        #expect(flat(text).contains("\(rule) broken: ") && flat(text).contains(sentence), "\(text)")
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.count <= 43 && lines.allSatisfy { $0.count <= 80 }, "\(lines.count) lines\n\(text)")
        #expect(!text.contains("\u{1B}"))
        // First question, second question, and where to go on.
        for part in [
            "≠ service", "≠ accessible    ak (when unlocked)", "ENTITLEMENTS (S1)", "open it: berth device open ",
        ] {
            #expect(text.contains(part), "\(part) is missing from\n\(text)")
        }
        // The random suffix of the attempt says nothing about the builds.
        #expect(text.firstMatch(of: /com\.example\.product-[0-9a-f]{16}/) == nil)
    }

    @Test("A changed group: the lines that changed, each once, and what follows for old items")
    func changedGroup() async throws {
        let text = try await show("group-changed")
        #expect(text.components(separatedBy: "- <string>EXAMPLE42.com.example.product</string>").count == 2)
        #expect(text.contains("    + <string>EXAMPLE77.com.example.product</string>\n"))
        let prefix = "S1 the prefix (team ID) of access group com.example.product changed from EXAMPLE42 to EXAMPLE77"
        #expect(flat(text).contains(prefix))
        #expect(text.contains("-25300 errSecItemNotFound (item not found): migrate-read-target,"))
        let full = flat(try await show("group-changed", "--full"))
        #expect(full.contains("--- entitlements/old.plist +++ entitlements/new.plist @@ -"))
        #expect(full.contains("read-legacy: -25300 errSecItemNotFound (item not found)"))
        #expect(full.contains("D1 -25300 errSecItemNotFound (item not found), not found: nothing matches the query"))
        #expect(full.contains("entitlements/comparison.json"))
    }

    @Test("The same for programs: the run as the API shows it, and the diagnosis beside it")
    func json() async throws {
        struct Document: Decodable {
            struct Diagnosis: Decodable {
                struct Finding: Decodable { let rule: String }
                struct Field: Decodable {
                    let field: String
                    let differs: Bool
                }

                let findings: [Finding]
                let contract: [Field]
                let entitlements: EntitlementReport
                let diffs: [String: String]
            }

            let diagnosis: Diagnosis
        }
        let text = Data(try await show("group-changed", "--json").utf8)
        #expect(try JSONDecoder().decode(RunView.self, from: text) == recording("group-changed").run)
        let diagnosis = try JSONDecoder().decode(Document.self, from: text).diagnosis
        #expect(diagnosis.findings.map(\.rule) == ["S1"])
        #expect(diagnosis.contract.map(\.field) == ["class", "service", "account", "access group", "accessible"])
        #expect(diagnosis.contract.first?.differs == false && diagnosis.contract[1].differs)
        let changes = try #require(diagnosis.entitlements.comparisons.first?.changes)
        #expect(changes.first?.kind == "prefix-changed" && changes.first?.hidesItems == true)
        #expect(diagnosis.diffs["entitlements/old-new.diff"]?.contains("-\t<string>EXAMPLE42") == true)
    }

    @Test("Colour on a terminal, none when it is not wanted")
    func colour() async throws {
        let size = Console.Size(columns: 100, rows: 40)
        let coloured = try await show("group-changed", terminal: size)
        #expect(coloured.contains("\u{1B}[31mM5 broken\u{1B}[0m"))
        #expect(try await !show("group-changed", terminal: size, variables: ["NO_COLOR": "1"]).contains("\u{1B}"))
    }
}
