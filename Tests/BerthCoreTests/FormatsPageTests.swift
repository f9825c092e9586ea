import BerthArchive
import BerthCore
import BerthSystem
import Foundation
import Testing

#if canImport(YAMLReader)
    @testable import scripted_app
    import YAMLReader
#endif

/// The examples of docs/formats.md are read by the code that reads the real documents.
struct FormatsPageTests {
    /// Every fenced block in a notation with its label.
    static func examples(_ notation: String = "json") throws -> [(label: String, bytes: [UInt8])] {
        let page = try String(contentsOf: packageRoot.appendingPathComponent("docs/formats.md"), encoding: .utf8)
        return page.components(separatedBy: "```\(notation) ").dropFirst().compactMap { block in
            guard let newline = block.firstIndex(of: "\n"), let end = block.range(of: "\n```") else { return nil }
            return (String(block[..<newline]), Array(block[newline..<end.lowerBound].utf8))
        }
    }

    @Test func everyExampleParses() throws {
        var counts: [String: Int] = [:]
        for (label, bytes) in try Self.examples() {
            counts[label, default: 0] += 1
            switch label {
            case "status-file":
                let status = try StatusFile.parse(bytes, name: "example")
                #expect(status.item(.target)?.content == .matches)
                #expect(status.item(.legacy)?.status == -25300)
            case "case-file":
                // The page shows a built-in case and one of a user's.
                let example = try CaseDefinition.parse(bytes)
                if example.name == BuiltInCases.update.name { #expect(example == BuiltInCases.update) }
                #expect(try CaseDefinition.parse(CanonicalJSON.encode(example)) == example)
            case "build-manifest":
                let manifest = try BuildManifest.parse(bytes)
                #expect(BuildManifest(name: manifest.name, entries: manifest.entries.reversed()) == manifest)
            case "coordinator-message": _ = try CoordinatorMessage.parse(bytes)
            case "host-message": _ = try HostMessage.parse(bytes)
            case "evidence-manifest":
                let manifest = try CanonicalJSON.decode(EvidenceManifest.self, from: bytes, document: "example")
                #expect(manifest.files.count == 1)
            case "evidence-pack":
                #expect(try EvidencePack.Head.parse(bytes, document: "example").blobs.map(\.size) == [164, 912])
            case "entitlement-comparison":
                let report = try EntitlementReport.parse(bytes)
                #expect(report.builds.count == 2 && report.comparisons.first?.changes.first?.hidesItems == true)
            case "ledger-entry":
                let entry = try CanonicalJSON.decode(LedgerEntry.self, from: bytes, document: "example")
                let canonical = try CanonicalJSON.encode(entry)
                let head = try LedgerChain.verify([canonical], of: .simulator) { Digest(bytes: SHA256.digest(of: $0)) }
                #expect(head.length == 1)
            case "gate-policy": #expect(try GatePolicy.parse(bytes).requirements.count == 1)
            case "plan":
                let plan = try CanonicalJSON.decode(Plan.self, from: bytes, document: "example")
                #expect(plan.problems.isEmpty && plan.kinds == [.simulator])
            case "journal-record": continue
            case "behaviour-file":
                #if canImport(YAMLReader)
                    let behaviour = try JSONDecoder().decode(Behaviour.self, from: Data(bytes))
                    #expect(behaviour.action("verify") == .hang && behaviour.action("census") == .report)
                    #expect(behaviour.reason == "put into status files")
                #endif
            default: Issue.record("docs/formats.md has an example of an unknown kind: \(label)")
            }
        }
        for label in [
            "status-file", "case-file", "build-manifest", "evidence-manifest", "evidence-pack",
            "entitlement-comparison",
            "ledger-entry", "gate-policy",
        ] {
            #expect(counts[label, default: 0] >= 1, "no example of \(label)")
        }
        #expect(counts["coordinator-message", default: 0] >= 3 && counts["host-message", default: 0] >= 3)
    }

    #if canImport(YAMLReader)
        @Test func thePlanFileParses() throws {
            let examples = try Self.examples("yaml")
            #expect(examples.map(\.label) == ["plan-file"])
            for (_, bytes) in examples {
                let plan = try PlanDocument(try #require(try YAMLReader.read(bytes))).plan
                #expect(
                    plan.paths == [
                        ["product-1.9", "product-2.0"], ["product-1.9", "2c26b46b68ff"],
                        ["product-1.0", "product-1.9-transitional", "product-2.0"],
                    ]
                )
                #expect(plan.os == ["latest", ">=17.0 <18"] && plan.labels == ["model": "iPhone 15"])
                #expect(plan.repeats == 2 && plan.priority == 10 && plan.kinds == [.simulator])
                // What travels is the same plan.
                let bytes = try CanonicalJSON.encode(plan)
                #expect(try CanonicalJSON.decode(Plan.self, from: bytes, document: "plan") == plan)
            }
        }
    #endif

    @Test func messagesSurviveTheWireAndUnknownKeys() throws {
        let assignment = Fixtures.assignment()
        let frame = try CoordinatorMessage.assign(assignment).frame(route: "sim-1")
        var decoder = FrameDecoder(expectsPreamble: true)
        decoder.feed(Array("Last login: yesterday\nberth-fra".utf8))
        #expect(try decoder.next() == nil)
        decoder.feed(Array("mes/1\n".utf8))
        // Byte by byte, as a slow network would bring it.
        var received: Frame?
        for byte in frame.bytes {
            decoder.feed([byte])
            if let next = try decoder.next() { received = next }
        }
        #expect(received == frame)
        #expect(try CoordinatorMessage.parse(received?.payload ?? []) == .assign(assignment))
        let future = #"{"type":"renewed","sequence":4,"mood":"good"}"#
        #expect(try CoordinatorMessage.parse(Array(future.utf8)) == .renewed(Renewal(sequence: 4)))
        #expect(throws: FormatError.self) { try CoordinatorMessage.parse(Array(#"{"type":"sing"}"#.utf8)) }
    }

    @Test func hostileFramesEndTheChannel() {
        var chatter = FrameDecoder(expectsPreamble: true)
        chatter.feed([UInt8](repeating: 65, count: Frame.chatterLimit + 100))
        #expect(throws: FrameDecoder.Problem.self) { try chatter.next() }
        var oversized = FrameDecoder(expectsPreamble: false)
        oversized.feed([0x7f, 0, 0, 0])
        #expect(throws: FrameDecoder.Problem.oversizedFrame(0x7f00_0000)) { try oversized.next() }
        var unknown = FrameDecoder(expectsPreamble: false)
        unknown.feed([0, 0, 0, 2, 9, 0])
        #expect(throws: FrameDecoder.Problem.unknownType(9)) { try unknown.next() }
        var route = FrameDecoder(expectsPreamble: false)
        route.feed([0, 0, 0, 2, 1, 200])
        #expect(throws: FrameDecoder.Problem.malformedRoute) { try route.next() }
    }

    @Test(arguments: [
        (#"{"format":1,"name":"x.app","entries":[{"path":"../evil","type":"folder"}]}"#, "not plainly inside"),
        (#"{"format":1,"name":"x.app","entries":[{"path":"/etc","type":"folder"}]}"#, "not plainly inside"),
        (#"{"format":1,"name":"../x.app","entries":[]}"#, "name"),
        (#"{"format":1,"name":"x.app","entries":[{"path":"a","type":"link","target":"../../etc"}]}"#, "link"),
        (
            #"{"format":1,"name":"x.app","entries":[{"path":"b","type":"folder"},{"path":"a","type":"folder"}]}"#,
            "order"
        ),
        (
            #"{"format":1,"name":"x.app","entries":[{"path":"a","type":"link","target":"b"},{"path":"a/c","type":"folder"}]}"#,
            "folder of the manifest"
        ),
        (#"{"format":2,"name":"x.app","entries":[]}"#, "version 2"),
    ])
    func hostileManifestsAreRefused(text: String, problem: String) {
        do {
            _ = try BuildManifest.parse(Array(text.utf8))
            Issue.record("accepted: \(text)")
        } catch {
            #expect("\(error)".contains(problem), "\(error)")
        }
    }

    @Test func aMisspeltCaseKeyIsNamed() {
        let text =
            #"{"format":1,"name":"x","version":1,"scenario":"","features":[],"checks":[],"steps":[{"step":"launch","fase":"seed"}]}"#
        do {
            _ = try CaseDefinition.parse(Array(text.utf8))
            Issue.record("accepted")
        } catch {
            #expect("\(error)".contains("steps[0].fase") && "\(error)".contains("phase"), "\(error)")
        }
    }
}

let packageRoot = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()
