import BerthCore
import BerthStore
import BerthSystem
import BerthTestSupport
import Foundation
import SQLiteDatabase
import Testing

@Suite("Recording", .timeLimit(.minutes(5)))
struct RecordingTests {
    @Test("A result is recorded exactly once, however often it comes and whenever the coordinator dies")
    func exactlyOnce() async throws {
        let farm = try await StoreFixture()
        try await farm.addSlot("sim-1")
        _ = try await farm.submit(repeats: 2)
        let first = try #require(try await farm.start("sim-1"))
        try await withThrowingTaskGroup(of: Acknowledgement.Filing.self) { group in
            for _ in 0..<8 { group.addTask { try await farm.end(first, .passed) } }
            for try await filing in group { #expect(filing == .recorded) }
        }
        let second = try #require(try await farm.start("sim-1"))

        // What the disk holds at this moment is all that a killed coordinator leaves: database and log, not merged.
        let survivor = "\(farm.folder.path)/survivor.sqlite"
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: farm.path + suffix, toPath: survivor + suffix)
        }
        let reopened = try await Store.open(path: survivor)
        #expect(try await reopened.openAttempts().map(\.attempt) == [second.attempt])
        #expect(try await reopened.assignment(of: second.attempt) == second)
        #expect(try await farm.end(first, .passed, in: reopened) == .recorded)
        #expect(try await farm.end(second, .failed, in: reopened) == .recorded)
        #expect(try await farm.end(second, .failed, in: reopened) == .recorded)
        let bytes = try await reopened.ledgerBytes(.simulator)
        let head = try LedgerChain.verify(bytes, of: .simulator) { Digest(bytes: SHA256.digest(of: $0)) }
        #expect(head.length == 2)
        #expect(try await reopened.batch(id: "b-1").isFinished)
        await reopened.close()
        await #expect(throws: StoreError.closed(operation: "count runs")) { try await reopened.counts() }
    }

    @Test("The late result of a lost attempt is kept beside and changes nothing", arguments: StoreKind.allCases)
    func superseded(_ kind: StoreKind) async throws {
        let farm = try await StoreFixture(kind)
        try await farm.addSlot("sim-1")
        _ = try await farm.submit()
        let lost = try #require(try await farm.start("sim-1"))
        let cause = OutcomeCause("lease-ran-out", "no heartbeat")
        #expect(try await farm.store.giveUp(attempt: lost.attempt, epoch: lost.epoch, cause: cause, now: 8))
        #expect(try await farm.store.giveUp(attempt: lost.attempt, epoch: lost.epoch, cause: cause, now: 9) == false)
        let retry = try #require(try await farm.start("sim-1"))
        #expect(retry.run == lost.run)
        #expect(retry.epoch > lost.epoch)
        #expect(try await farm.end(lost, .passed) == .superseded)
        #expect(try await farm.end(lost, .passed) == .superseded)
        #expect(try await farm.store.supersededReports().map(\.attempt) == [lost.attempt])
        #expect(try await farm.store.run(id: lost.run).state == .running)
        try await farm.end(retry, .failed)
        let run = try await farm.store.run(id: lost.run)
        #expect(run.verdict == .failed)
        #expect(run.attempts.map(\.outcome) == [.lost, .failed])
        #expect(try await farm.store.ledger(.simulator).entries.map(\.outcome) == [.lost, .failed])
    }

    @Test(
        "The database itself refuses to change, remove or double an entry, and to decide a run twice",
        arguments: StoreKind.allCases
    )
    func appendOnly(_ kind: StoreKind) async throws {
        let farm = try await StoreFixture(kind)
        try await farm.addSlot("sim-1")
        _ = try await farm.submit()
        try await farm.end(try #require(try await farm.start("sim-1")), .errored)
        try await farm.end(try #require(try await farm.start("sim-1")), .passed)
        let columns = "ledger, %, attempt, run, pins, outcome, deciding, bytes, hex, recorded_at"
        func copy(_ sequence: Int) -> String {
            "INSERT INTO ledger_entry (\(columns.replacing("%", with: "sequence"))) "
                + "SELECT \(columns.replacing("%", with: "\(sequence)")) FROM ledger_entry WHERE sequence = 2"
        }
        for sql in [
            "UPDATE ledger_entry SET outcome = 'failed' WHERE sequence = 2",
            "DELETE FROM ledger_entry WHERE sequence = 2",
            copy(3), copy(2),
            "UPDATE run SET state = 'queued', verdict = NULL, finished_at = NULL WHERE number = 1",
            "UPDATE run SET verdict = NULL WHERE number = 1",
            "UPDATE attempt SET outcome = 'passed' WHERE number = 1",
            kind == .sqlite ? copy(2).replacing("INSERT", with: "INSERT OR REPLACE") : "TRUNCATE ledger_entry",
        ] {
            await #expect(throws: (any Error).self, "\(sql)") { try await farm.runDirectly(sql) }
        }
        #expect(try await farm.verifiedHead().length == 2)
        #expect(try await farm.store.run(id: "r-1").verdict == .passed)
    }

    @Test("A single altered byte breaks the chain at its place", arguments: StoreKind.allCases)
    func tampered(_ kind: StoreKind) async throws {
        let farm = try await StoreFixture(kind)
        try await farm.addSlot("sim-1")
        _ = try await farm.submit(repeats: 3)
        for _ in 0..<3 { try await farm.end(try #require(try await farm.start("sim-1")), .failed) }
        var bytes = try await farm.store.ledgerBytes(.simulator)
        let text = String(decoding: bytes[1], as: UTF8.self)
        bytes[1] = Array(text.replacingOccurrences(of: "\"epoch\":2", with: "\"epoch\":3").utf8)
        #expect(bytes[1] != Array(text.utf8))
        let broken = #expect(throws: LedgerChain.Break.self) {
            try LedgerChain.verify(bytes, of: .simulator) { Digest(bytes: SHA256.digest(of: $0)) }
        }
        #expect(broken?.sequence == 3)
    }

    @Test("A full disk refuses by name and loses nothing")
    func full() async throws {
        let farm = try await StoreFixture(sizeLimit: 400 << 10)
        try await farm.addSlot("sim-1")
        _ = try await farm.submit()
        let assignment = try #require(try await farm.start("sim-1"))
        var accepted = 0
        await #expect(throws: StoreError.storageFull(operation: "submit a batch")) {
            while true {
                _ = try await farm.submit(cases: ["restart"], repeats: 400)
                accepted += 1
            }
        }
        #expect(try await farm.store.counts() == (queued: accepted * 400, running: 1))
        #expect(try await farm.store.batches(limit: 1000).count == accepted + 1)
        #expect(try await farm.store.openAttempts().map(\.attempt) == [assignment.attempt])
        await farm.store.close()
        let roomier = try await Store.open(path: farm.path)
        #expect(try await farm.end(assignment, .passed, in: roomier) == .recorded)
        #expect(try await roomier.run(id: assignment.run).verdict == .passed)
    }

    @Test(
        "A result that the pinned key has not signed proves nothing, and a changed key is refused",
        arguments: StoreKind.allCases
    )
    func signatures(_ kind: StoreKind) async throws {
        let fixture = try await StoreFixture(kind)
        try await fixture.addSlot("a")
        let batch = try await fixture.submit()
        let first = try #require(try await fixture.start("a"))
        #expect(try await fixture.end(first, .passed, signedBy: try SigningKey.make()) == .recorded)
        let entry = try #require(try await fixture.store.ledger(.simulator).entries.last)
        #expect(entry.outcome == .void && entry.cause?.code == "signature-invalid" && entry.signature == nil)
        let second = try #require(try await fixture.start("a"))
        #expect(try await fixture.end(second, .passed) == .recorded)
        #expect(try await fixture.store.run(id: batch.runs[0].id).verdict == .passed)
        #expect(try await fixture.verifiedHead().length == 2)
        let other = AgentHello(
            slot: "a",
            agentVersion: "0.1.0",
            device: DeviceFacts(identity: "device-a", platform: .linuxSimulated, model: "Phone", os: StoreFixture.os),
            key: Hex.encode(try SigningKey.make().publicBytes),
            highestEpoch: 0,
            features: [],
            tools: [:],
            running: nil,
            unacknowledged: []
        )
        do {
            try await fixture.store.recordSlot(other, host: "alpha", now: 9)
            Issue.record("the other key was taken")
        } catch {
            #expect(error.code == "agent-key-changed")
        }
    }

    @Test("A signature moved to an entry that says something else is found", arguments: StoreKind.allCases)
    func signaturesBelongToTheirEntries(_ kind: StoreKind) async throws {
        let fixture = try await StoreFixture(kind)
        try await fixture.addSlot("a")
        _ = try await fixture.submit()
        try await fixture.end(try #require(try await fixture.start("a")), .failed)
        let bytes = try #require(try await fixture.store.ledgerBytes(.simulator).last)
        let forged = Array(String(decoding: bytes, as: UTF8.self).replacing("\"failed\"", with: "\"passed\"").utf8)
        #expect(throws: LedgerChain.Break.self) {
            try LedgerChain.verify(
                [forged],
                of: .simulator,
                digest: { Digest(bytes: SHA256.digest(of: $0)) },
                isSigned: { signature, statement in
                    SigningKey.isValid(
                        Hex.decode(signature.signature) ?? [],
                        of: statement,
                        publicBytes: Hex.decode(signature.key) ?? []
                    )
                }
            )
        }
    }

    @Test(
        "Recorded runs are found by run, batch and time, each once; a case whose stored bytes changed is found out",
        arguments: StoreKind.allCases
    )
    func recordedRuns(_ kind: StoreKind) async throws {
        let farm = try await StoreFixture(kind)
        try await farm.addSlot("sim-1")
        let batch = try await farm.submit()
        for outcome in [Outcome.errored, .passed] {
            try await farm.end(try #require(try await farm.start("sim-1")), outcome)
        }
        let waiting = try await farm.submit()
        func found(_ request: ReplayRequest) async throws -> [String] {
            try await farm.store.recordedRuns(request).map(\.run)
        }
        let (first, second) = (batch.runs[0], waiting.runs[0])
        // The run that was tried again has two entries and counts once; the one that waits has none.
        #expect(try await found(ReplayRequest(batch: batch.id)) == [first.id])
        #expect(try await farm.store.recordedRuns(ReplayRequest(run: first.id)).map(\.pins) == [first.pins])
        #expect(try await found(ReplayRequest(run: second.id)).isEmpty)
        #expect(try await found(ReplayRequest(since: 7)) == [first.id])
        #expect(try await found(ReplayRequest(since: 7, until: 7)).isEmpty)
        #expect(try await found(ReplayRequest(since: 0, ledger: .hardware)).isEmpty)
        await #expect(throws: StoreError.unknownRun(id: "r-9")) { try await found(ReplayRequest(run: "r-9")) }
        await #expect(throws: StoreError.unknownBatch(id: "r-1")) { try await found(ReplayRequest(batch: "r-1")) }

        let digest = first.pins.caseDigest
        #expect(try await farm.store.caseFault(digest) == nil)
        let absent = StoreFixture.digest("no case")
        #expect(try await farm.store.caseFault(absent)?.contains("is not archived") == true)
        try await farm.runDirectly(
            "UPDATE case_definition SET definition = replace(definition, '\"checks\":[', '\"checks\":[\"G2\",') "
                + "WHERE hex = '\(digest.hex)'"
        )
        #expect(try await farm.store.caseFault(digest)?.contains("is damaged") == true)
    }
}
