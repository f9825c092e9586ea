import CodeSignature
import Foundation
import Testing

@Suite("Entitlements of two builds")
struct EntitlementComparisonTests {
    private func compare(_ old: CodeIdentity, _ new: CodeIdentity) -> EntitlementComparison {
        EntitlementComparison(old: old, new: new, names: ("old.plist", "new.plist"))
    }

    @Test("Another team's prefix hides the old items, and is told first")
    func prefix() throws {
        func signed(by team: String) -> CodeIdentity {
            let own = "\(team).com.example.app"
            return Fixture.identity([own, "OLD.shared"], application: own, team: team)
        }
        let comparison = compare(signed(by: "OLD"), signed(by: "NEW"))
        #expect(comparison.changes.map(\.kind) == [.prefixChanged, .applicationIdentifierChanged, .teamChanged])
        let first = try #require(comparison.changes.first)
        #expect(first.rule == "S1" && first.hidesItems && first.old == "OLD.com.example.app")
        #expect(first.meaning.contains("prefix (team ID)") && first.meaning.contains("errSecItemNotFound"))
    }

    @Test("Groups removed and added; a group that stays visible as application identifier hides nothing")
    func groups() {
        let old = Fixture.identity(["T.app", "T.wallet", "T.suite"], application: "T.app")
        let comparison = compare(old, Fixture.identity(["T.suite", "T.extra"], application: "T.app"))
        #expect(comparison.changes.map(\.kind) == [.groupRemoved, .groupRemoved, .groupAdded])
        #expect(comparison.changes.map(\.hidesItems) == [true, false, false])
        #expect(comparison.changes[0].old == "T.wallet" && comparison.changes[1].old == "T.app")
    }

    @Test("A changed order changes where new items go")
    func order() throws {
        let changes = compare(Fixture.identity(["T.a", "T.b"]), Fixture.identity(["T.b", "T.a"])).changes
        let change = try #require(changes.first)
        #expect(changes.count == 1 && change.kind == .orderChanged && !change.hidesItems)
        #expect(change.meaning.contains("now T.b instead of T.a"))
    }

    @Test("Other entitlements are named; equal ones make no diff; none at all is told")
    func others() {
        let plain = CodeIdentity(entitlements: .dictionary(["get-task-allow": .boolean(true)]), source: .signature)
        let more = CodeIdentity(
            entitlements: .dictionary(["get-task-allow": .boolean(false), "aps-environment": .string("production")]),
            source: .signature
        )
        #expect(compare(plain, more).changes.map(\.kind) == [.entitlementAdded, .debuggingChanged])
        #expect(compare(plain, plain).changes.isEmpty && compare(plain, plain).diff.isEmpty)
        let bare = CodeIdentity(entitlements: nil, source: nil)
        #expect(compare(plain, bare).changes.map(\.hidesItems) == [true])
        #expect(compare(plain, bare).diff.contains("-\t<key>get-task-allow</key>"))
    }

    @Test("The diff is the one that `diff -u` makes")
    func unified() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("berth-diff-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var texts: [(String, String)] = [
            (
                Fixture.identity(["A.x", "B.y", "C.z"], application: "A.x").entitlements?.xml ?? "",
                Fixture.identity(["B.y", "C.z", "D.w"], application: "D.x").entitlements?.xml ?? ""
            ), ("a\nb\n", ""), ("", "a\n"), ("a\n", "b\n"),
        ]
        let many = (0..<60).map { "line \($0)\n" }
        texts.append((many.joined(), (many.prefix(3) + many[5..<30] + ["new\n"] + many[30...]).joined()))
        for (old, new) in texts {
            try Data(old.utf8).write(to: folder.appendingPathComponent("old"))
            try Data(new.utf8).write(to: folder.appendingPathComponent("new"))
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/diff")
            process.arguments = ["-u", "--label", "old", "--label", "new", "old", "new"]
            process.currentDirectoryURL = folder
            let output = Pipe()
            process.standardOutput = output
            try process.run()
            let expected = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            process.waitUntilExit()
            #expect(UnifiedDiff.text(old, new, names: ("old", "new")) == expected)
        }
    }
}
