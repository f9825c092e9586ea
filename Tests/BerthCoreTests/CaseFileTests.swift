import BerthCore
import Testing

/// Case files: what is wrong is told with the line, the place and what there could be.
struct CaseFileTests {
    /// Steps on lines 7 and following.
    private static func file(
        _ steps: [String],
        features: String = "[]",
        checks: String? = nil,
        name: String = #""mine""#
    ) -> [UInt8] {
        let lines =
            ["{", #""format": 1,"#, #""name": \#(name),"#, #""version": 1, "scenario": "x","#]
            + [#""features": \#(features),"# + (checks.map { #" "checks": \#($0),"# } ?? ""), #""steps": ["#]
            + steps.enumerated().map { $0.offset < steps.count - 1 ? "\($0.element)," : $0.element } + ["]}"]
        return Array(lines.joined(separator: "\n").utf8)
    }

    private static let old = #"{"step": "install", "build": "old"}"#
    private static let seed = #"{"step": "launch", "phase": "seed"}"#
    private static let new = #"{"step": "install", "build": "new"}"#
    private static func verify(_ more: String) -> String { #"{"step": "launch", "phase": "verify"\#(more)}"# }
    private static let good = [old, seed, new, verify(#", "decides": ["G1"]"#)]

    struct Mistake: Sendable, CustomStringConvertible {
        let bytes: [UInt8]
        let line: Int
        let words: [String]

        var description: String { "\(words)" }
    }

    static let mistakes: [Mistake] = [
        Mistake(bytes: file([#"{"step": "uninstall"}"#]), line: 7, words: ["uninstall", "terminate", "reboot"]),
        Mistake(bytes: file([#"{"step": "install", "build": "older"}"#]), line: 7, words: ["older", "transitional"]),
        Mistake(bytes: file([old, #"{"step": "launch", "phase": "sed"}"#]), line: 8, words: ["sed", "prepare"]),
        Mistake(
            bytes: file([old, #"{"step": "launch", "phase": "cleanup"}"#]),
            line: 8,
            words: ["cleanup", "census"]
        ),
        Mistake(bytes: file([seed]), line: 7, words: ["nothing is installed"]),
        Mistake(bytes: file([old, seed, new, verify("")]), line: 6, words: ["decides"]),
        Mistake(
            bytes: file([old, seed, new, verify(#", "killAt": "after-lunch""#)]),
            line: 10,
            words: ["after-lunch", "after-read-back"]
        ),
        Mistake(
            bytes: file([old, seed, new, verify(#", "killAt": "after-add", "decides": ["C2"]"#)]),
            line: 10,
            words: ["decides nothing", "C2"]
        ),
        Mistake(bytes: file([old, seed, new, verify(#", "decides": ["G9"]"#)]), line: 10, words: ["G9", "M5"]),
        Mistake(bytes: file([new, verify(#", "decides": ["G1"]"#)]), line: 8, words: ["G1", "seeds"]),
        Mistake(bytes: file([old, seed, new, verify(#", "decides": ["G2"]"#)]), line: 10, words: ["G2", "verify"]),
        Mistake(
            bytes: file(good + [#"{"step": "fault", "call": "add", "status": -1}"#]),
            line: 11,
            words: ["keychain-faults", "features"]
        ),
        Mistake(
            bytes: file(
                good + [#"{"step": "fault", "call": "read", "status": -1}"#],
                features: #"["keychain-faults"]"#
            ),
            line: 11,
            words: ["read", "copy"]
        ),
        Mistake(
            bytes: file(good + [#"{"step": "fault", "call": "add", "status": 0}"#], features: #"["keychain-faults"]"#),
            line: 11,
            words: ["success"]
        ),
        Mistake(bytes: file(good + [#"{"step": "lock"}"#]), line: 11, words: ["lock"]),
        Mistake(bytes: file(good, features: #"["levitation"]"#), line: 5, words: ["levitation", "keychain-faults"]),
        Mistake(bytes: file(good, checks: #"["G1", "G2"]"#), line: 5, words: ["G1, D2"]),
        Mistake(bytes: file(good, name: #""no good""#), line: 3, words: ["letters"]),
        Mistake(
            bytes: file([old, #"{"step": "launch", "phase": "prepare"}"#] + good),
            line: 8,
            words: ["setMarker", "bystanders"]
        ),
        Mistake(
            bytes: file([old, #"{"step": "launch", "phase": "prepare", "marker": 1, "clearMarker": true}"#]),
            line: 8,
            words: ["at most one"]
        ),
        Mistake(
            bytes: file([new, verify(#", "expect": "silence", "decides": ["B3"]"#)]),
            line: 6,
            words: ["census", "another build"]
        ),
        Mistake(bytes: Array("{\n\"format\": 1,\n\"name\": mine}".utf8), line: 3, words: ["mine", "quotes"]),
        Mistake(bytes: Array("{\n\"format\": 1,\n\"format\": 1}".utf8), line: 3, words: ["format", "twice"]),
        Mistake(bytes: Array("{\"format\": 1\n\n\"name\"".utf8), line: 3, words: ["`,`"]),
    ]

    @Test(arguments: mistakes)
    func aMistakeIsNamed(mistake: Mistake) {
        let error = #expect(throws: FormatError.self) {
            try CaseDefinition.parse(mistake.bytes, document: "mine.json")
        }
        #expect(error?.line == mistake.line, "\(String(describing: error))")
        #expect("\(String(describing: error))".contains("mine.json"))
        for word in mistake.words { #expect(error?.problem.contains(word) == true, "\(String(describing: error))") }
    }

    @Test("What steps and checks follow from each other; one case has one canonical form")
    func derived() throws {
        let plain = try CaseDefinition.parse(Self.file(Self.good))
        #expect(plain.checks == [.readable, .secretsStay] && plain.features.isEmpty)
        let spelt = try CaseDefinition.parse(Self.file(Self.good, checks: #"["D2", "G1"]"#))
        #expect(try CanonicalJSON.encode(spelt) == CanonicalJSON.encode(plain))
        for definition in BuiltInCases.all {
            #expect(try CaseDefinition.parse(CanonicalJSON.encode(definition)) == definition)
        }
        #expect(BuiltInCases.writeRefused.features == ["keychain-faults"])
    }
}
