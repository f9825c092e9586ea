import BerthCore
import BerthSystem
import Testing

struct GateTests {
    private let policy = GatePolicy(
        name: "test",
        requirements: [.init(platform: .linuxSimulated, cases: ["update", "restart"])]
    )

    private func verdict(_ entries: [LedgerEntry]) -> GateReport {
        GateEvaluation.evaluate(
            policy,
            path: [Fixtures.build(1), Fixtures.build(2)],
            buildNames: ["old", "new"],
            entries: entries,
            heads: []
        )
    }

    @Test func everyDemandedCaseMustHavePassed() {
        let update = Fixtures.entry(sequence: 1, outcome: .passed)
        let restart = Fixtures.entry(sequence: 2, caseName: "restart", outcome: .passed)
        #expect(verdict([]).verdict == .incomplete)
        #expect(verdict([update]).verdict == .incomplete)
        #expect(verdict([update, restart]).verdict == .pass)
    }

    @Test func onlyTheSamePathPlatformAndALedgerOfItsKindCount() {
        let restart = Fixtures.entry(sequence: 2, caseName: "restart", outcome: .passed)
        #expect(verdict([Fixtures.entry(sequence: 1, new: 3, outcome: .passed), restart]).verdict == .incomplete)
        let elsewhere = Fixtures.entry(sequence: 1, platform: .iosSimulator, outcome: .passed)
        #expect(verdict([elsewhere, restart]).verdict == .incomplete)
        let check = Fixtures.entry(sequence: 1, outcome: .passed, purpose: LedgerEntry.healthCheck)
        #expect(verdict([check, restart]).verdict == .incomplete)
        let undecided = Fixtures.entry(sequence: 1, outcome: .passed, deciding: false)
        #expect(verdict([undecided, restart]).verdict == .incomplete)
    }

    @Test func aFailureBlocksAndALaterPassMakesItFlakyNotGood() {
        let restart = Fixtures.entry(sequence: 9, caseName: "restart", outcome: .passed)
        let failed = Fixtures.entry(sequence: 1, outcome: .failed)
        let report = verdict([failed, restart])
        #expect(report.verdict == .blocked)
        #expect(report.findings.first?.state == .broken)
        let flaky = verdict([failed, Fixtures.entry(sequence: 2, outcome: .passed), restart])
        #expect(flaky.verdict == .blocked)
        #expect(flaky.findings.first?.state == .flaky)
    }

    @Test func farmFailuresLeaveTheGateOpenNotBlocked() {
        let report = verdict([Fixtures.entry(sequence: 1, outcome: .errored, deciding: false)])
        #expect(report.verdict == .incomplete)
        #expect(report.findings.first?.reason.contains("errored") == true)
    }

    @Test func thePolicyThatAsksForNothingIsRefused() {
        #expect(throws: FormatError.self) {
            try GatePolicy.parse(Array(#"{"format":1,"name":"x","requirements":[]}"#.utf8))
        }
    }
}

struct LedgerChainTests {
    private func digest(_ bytes: [UInt8]) -> Digest { Digest(bytes: SHA256.digest(of: bytes)) }

    private func chain(_ count: Int64) throws -> [[UInt8]] {
        var previous = LedgerEntry.beginning
        return try (1...count).map { sequence in
            let bytes = try CanonicalJSON.encode(
                Fixtures.entry(sequence: sequence, outcome: .passed, previous: previous)
            )
            previous = digest(bytes)
            return bytes
        }
    }

    @Test func everyKindOfTamperingIsFound() throws {
        let entries = try chain(5)
        let head = try LedgerChain.verify(entries, of: .simulator, digest: digest)
        #expect(head.length == 5)
        var changed = entries
        changed[2] = Array(String(decoding: changed[2], as: UTF8.self).replacing("\"passed\"", with: "\"failed\"").utf8)
        var removed = entries
        removed.remove(at: 1)
        var swapped = entries
        swapped.swapAt(1, 2)
        var spaced = entries
        spaced[4] += [32]
        for tampered in [changed, removed, swapped, spaced, entries + [entries[4]]] {
            #expect(throws: LedgerChain.Break.self) {
                try LedgerChain.verify(tampered, of: .simulator, digest: digest)
            }
        }
        #expect(throws: LedgerChain.Break.self) { try LedgerChain.verify(entries, of: .hardware, digest: digest) }
    }
}
