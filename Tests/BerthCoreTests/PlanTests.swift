#if canImport(YAMLReader)
    import BerthCore
    import Testing
    import YAMLReader

    /// What a person may write into a plan file, and what is said to what may not.
    struct PlanTests {
        private static func read(_ text: String) throws -> PlanDocument {
            try PlanDocument(try #require(try YAMLReader.read(Array(text.utf8))))
        }

        /// The problems of a text as `line:column: message`.
        private static func problems(_ text: String) -> [String] {
            do {
                _ = try read(text)
                return []
            } catch let problems as DocumentProblems {
                return problems.problems.map(\.description)
            } catch {
                return ["\(error)"]
            }
        }

        private static let good = "format: 1\nold: a\nnew: b\ncases: update\n"

        @Test func oneValueStandsForAListAndDefaultsAreFilledIn() throws {
            let plan = try Self.read(Self.good).plan
            #expect(plan == Plan(paths: [["a", "b"]], cases: ["update"], os: ["latest"]))
            // A version stays the text that was written, not a number.
            #expect(try Self.read(Self.good + "os: 18.10\n").plan.os == ["18.10"])
            #expect(try Self.read(Self.good + "deadline: 2d\n").plan.deadline == "2d")
        }

        @Test(arguments: [
            (good + "caes: restart\n", "5:1: \"caes\" is no key of a plan; there are format, name, old,"),
            (good + "old: c\n", "5:1: `old` is given twice; it stands at 2:1 already"),
            (good + "deadline: soon\n", "5:11: \"soon\" is not a time from now such as 90m"),
            (good + "repeats: two\n", "5:10: `repeats` must be a whole number from 1 to 1000, not \"two\""),
            (good + "repeats: \"2\"\n", "5:10: `repeats` must be a whole number"),
            (good + "repeats: 1001\n", "5:10: `repeats` must be a whole number from 1 to 1000"),
            (
                good + "labels: {hots: mac-1}\n",
                "5:10: \"hots\" is no key of `labels`; there are host, slot, model, kind"
            ),
            (good + "labels:\n  host:\n    - a\n", "7:5: what the slot's host must be must stand here, not a list"),
            (good + "platforms: [linux]\n", "5:13: \"linux\" is none of ios-simulator, linux-simulated"),
            (good + "os: \">=18 <nineteen\"\n", "5:5: \">=18 <nineteen\" is not an exact version such as 18.0"),
            (good + "os: newest\n", "5:5: \"newest\" is not an exact version"),
            (good + "kinds: hardware\nplatforms: ios-device\n", "5:8: give platforms or kinds, not both"),
            (good + "paths: [[a]]\n", "5:9: a path must be a list of two or more builds"),
            (good + "paths: [[a, b, a]]\n", "5:16: \"a\" is named twice; it stands at 5:10 already"),
            ("format: 1\nold: a\nnew: [b, a]\ncases: update\n", "3:10: \"a\" is named twice; it stands at 2:6 already"),
            ("format: 1\nold: a\nnew: b\ncases: []\n", "4:8: `cases` is empty"),
            ("format: 2\nold: a\nnew: b\ncases: update\n", "1:9: format \"2\" is not known here; 1 is"),
            ("old: a\nnew: b\ncases: update\n", "1:1: `format: 1` is missing"),
            ("format: 1\ncases: update\n", "1:1: no builds are named: give `old` and `new`, or `paths`"),
            ("format: 1\nold: a\ncases: update\n", "1:1: `new` is missing"),
            ("- format\n", "1:1: a plan must be a mapping with the keys format"),
            (good + "name: &n x\n", "5:7: the anchor &n is not accepted"),
            (good + "name: *n\n", "5:7: an alias (*name) is not accepted"),
            (good + "name: !!str x\n", "5:7: the tag tag:yaml.org,2002:str is not accepted"),
            (good + "name: [\n", "this is no YAML"),
            (good + "\tname: x\n", "5:1: this is no YAML"),
            (good + "---\nformat: 1\n", "5:1: a second document begins here"),
            (String(repeating: "[", count: 40), "nested more than 16 deep"),
        ])
        func whatIsWrongIsNamedWithItsPlace(text: String, expected: String) {
            let problems = Self.problems(text)
            #expect(problems.contains { $0.contains(expected) }, "\(problems)")
        }

        @Test func allProblemsAreToldAtOnceInTheOrderOfTheText() {
            let text = "format: 1\nnmae: x\nold: [a]\nnew: b\ncases: [update, update]\nrepeats: 0\n"
            #expect(Self.problems(text).map { $0.prefix(4) } == ["2:1:", "3:6:", "5:17", "6:10"])
        }

        @Test func bytesThatAreNoTextAreRefused() {
            #expect(throws: DocumentProblem.self) { try YAMLReader.read([0xff, 0xfe, 0x00, 0x41]) }
            #expect(throws: DocumentProblem.self) {
                try YAMLReader.read([UInt8](repeating: 35, count: YAMLReader.sizeLimit + 1))
            }
            #expect((try? YAMLReader.read(Array("# nothing\n".utf8))) == .some(nil))
        }

        @Test func whatTheCoordinatorFindsIsFoundInTheFile() throws {
            let text = "format: 1\nold: a\nnew:\n  - b\n  - c\ncases: update\nos: [latest, 17.0]\nlabels:\n  host: x\n"
            let document = try Self.read(text)
            func place(_ place: String) -> String {
                document.locate(PlanProblem(place: place, code: "", message: "")).position.description
            }
            #expect(place("paths[1][1]") == "5:5" && place("paths[1][0]") == "2:6" && place("paths[0]") == "4:5")
            #expect(place("os[1]") == "7:14" && place("cases[0]") == "6:8" && place("labels.host") == "9:9")
            #expect(place("platforms[0]") == "1:1" && place("") == "1:1")
        }

        @Test(arguments: [
            ("latest", "19.0"), ("18.2", "18.2"), ("22A2", "18.10"), ("18", "18.0"), (">=18.0 <19", "18.10"),
            ("<18.10", "18.2"), (">= 18 <= 18.2", "18.2"), (">19", nil), ("17.0", nil),
        ])
        func aRequirementMeansTheNewestThatFits(text: String, version: String?) throws {
            let offered = [("19.0", "23A1"), ("18.10", "22A2"), ("18.2", "22A1"), ("18.0", "22A0")]
                .map { OSPin(version: $0.0, build: $0.1) }
            #expect(try #require(OSRequirement(text)).resolve(offered)?.version == version)
        }
    }
#endif
