import BerthCore
import BerthTestSupport
import SQLiteDatabase
import Testing

@testable import BerthStore

@Suite("Schema", .timeLimit(.minutes(5)))
struct SchemaTests {
    @Test("A file of the first version is brought forward with everything that waits in it")
    func forward() async throws {
        let folder = try TemporaryDirectory()
        let path = "\(folder.path)/store.sqlite"
        let old = StoreFixture.digest("old").hex
        let definition = String(decoding: try CanonicalJSON.encode(BuiltInCases.update), as: UTF8.self)
        let pins = Pins(
            path: [StoreFixture.digest("old"), StoreFixture.digest("old")],
            caseName: "update",
            caseDigest: StoreFixture.digest("case"),
            os: StoreFixture.os,
            platform: .linuxSimulated
        )
        let facts = DeviceFacts(identity: "d", platform: .linuxSimulated, model: "Phone", os: StoreFixture.os)
        do {
            let connection = try DatabaseConnection(path: path)
            try connection.executeScript(StoreSchema.steps[0].sqlite)
            try connection.setSchemaVersion(1)
            let values: [(String, [DatabaseValue])] = [
                ("INSERT INTO host VALUES ('alpha', '{}', 0, 1)", []),
                ("INSERT INTO device VALUES ('d', 0)", []),
                (
                    "INSERT INTO slot VALUES ('sim-1', 'alpha', 'd', ?, 'linux-simulated', ?, ?, '[]', '1', '{}', 1)",
                    [.text(try text(facts)), .text(StoreFixture.os.version), .text(StoreFixture.os.build)]
                ),
                ("INSERT INTO build VALUES (?, 'old', '{}', 1, 1)", [.text(old)]),
                (
                    "INSERT INTO case_definition VALUES (?, 'update', 1, ?, 1)",
                    [.text(StoreFixture.digest("case").hex), .text(definition)]
                ),
                (
                    "INSERT INTO requirement_class VALUES (5, 'linux-simulated', ?, ?, '[]')",
                    [.text(StoreFixture.os.version), .text(StoreFixture.os.build)]
                ),
                ("INSERT INTO slot_class VALUES ('sim-1', 5)", []),
                (
                    "INSERT INTO pins VALUES (1, ?, ?)",
                    [.text(try text(pins)), .text(StoreFixture.digest("case").hex)]
                ),
                ("INSERT INTO batch VALUES (1, 'ci', NULL, 'x', 1)", []),
                ("INSERT INTO run (batch, pins, class, priority, submitted_at) VALUES (1, 1, 5, 0, 1)", []),
            ]
            for (sql, parameters) in values { try connection.execute(sql, parameters) }
        }
        let store = try await Store.open(path: path)
        #expect(try await store.run(id: "r-1").state == .queued)
        #expect(try await store.osVersions(platform: .linuxSimulated, labels: ["model": "Phone"]) == [StoreFixture.os])
        let nonce = String(repeating: "0", count: 32)
        #expect(try await store.claim(slot: "sim-1", now: 2, nonce: nonce, timeout: 1)?.run == "r-1")
        await store.close()
        let connection = try DatabaseConnection(path: path)
        #expect(try connection.rows("PRAGMA foreign_key_check").isEmpty)
        #expect(try connection.rows("PRAGMA integrity_check").map { try $0.text(0) } == ["ok"])
    }

    @Test("States and outcomes that do not exist, or not beside each other, are refused by the file itself")
    func conditions() async throws {
        let farm = try await StoreFixture()
        try await farm.addSlot("sim-1")
        _ = try await farm.submit(repeats: 1)
        _ = try #require(try await farm.start("sim-1"))
        let connection = try DatabaseConnection(path: farm.path)
        for change in [
            "run SET state = 'lost'", "run SET state = 'assigned'", "run SET state = 'finished'",
            "run SET verdict = 'passed', finished_at = 1",
            "run SET verdict = 'lost', state = 'finished', finished_at = 1",
            "attempt SET state = 'lost'", "attempt SET state = 'ended', ended_at = 1",
            "attempt SET state = 'ended', ended_at = 1, outcome = 'flaky'", "attempt SET retry_class = 'luck'",
        ] {
            #expect(throws: DatabaseError.self, "\(change)") { try connection.execute("UPDATE " + change) }
        }
        try connection.execute(
            "UPDATE attempt SET state = 'ended', ended_at = 1, outcome = 'errored', retry_class = 'farm'"
        )
        try connection.execute("UPDATE run SET state = 'finished', verdict = 'unproven', finished_at = 1")
    }

    private func text(_ value: some Encodable) throws -> String {
        String(decoding: try CanonicalJSON.encode(value), as: UTF8.self)
    }
}
