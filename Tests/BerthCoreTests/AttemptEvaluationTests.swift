import BerthCore
import Testing

/// Decision by decision: what counts against the product, what against the farm, what proves nothing.
struct AttemptEvaluationTests {
    private func evaluation(_ definition: CaseDefinition = BuiltInCases.update) -> AttemptEvaluation {
        AttemptEvaluation(definition: definition, nonce: Fixtures.nonce, epoch: 7)
    }

    private func seeded(_ definition: CaseDefinition = BuiltInCases.update) throws -> AttemptEvaluation {
        var evaluation = evaluation(definition)
        evaluation.record(
            try Fixtures.status(.seed, launch: 1, items: [Fixtures.item(.legacy)]),
            of: .seed,
            facts: Fixtures.continuity
        )
        #expect(evaluation.goesOn)
        return evaluation
    }

    private func state(_ id: RuleID, _ evaluation: AttemptEvaluation) -> CheckResult.State? {
        evaluation.conclusion.checks.first { $0.id == id }?.state
    }

    @Test func readableDataPassesOnlyWithSecretsProved() throws {
        var evaluation = try seeded()
        evaluation.record(
            try Fixtures.status(.verify, launch: 2, items: [Fixtures.item(.target), Fixtures.item(.legacy, .missing)]),
            of: .verify(.readable),
            facts: Fixtures.continuity
        )
        #expect(evaluation.conclusion.outcome == .errored, "D2 is not decided yet")
        evaluation.recordSecrecy(leaks: [])
        #expect(evaluation.conclusion.outcome == .passed)
        evaluation.recordSecrecy(leaks: ["app/2.stdout"])
        #expect(evaluation.conclusion.outcome == .failed)
        #expect(evaluation.conclusion.cause?.code == "D2-broken")
    }

    @Test func theAppsWordCountsForNothing() throws {
        var evaluation = try seeded(BuiltInCases.restart)
        evaluation.record(
            try Fixtures.status(
                .verify,
                launch: 2,
                items: [Fixtures.item(.target, .missing), Fixtures.item(.legacy)],
                migration: #"{"outcome":"migrated","wrote":true,"markerAfter":2}"#
            ),
            of: .verify(.readable),
            facts: Fixtures.continuity
        )
        evaluation.recordSecrecy(leaks: [])
        #expect(!evaluation.goesOn)
        #expect(evaluation.conclusion.outcome == .failed)
        #expect(state(.readable, evaluation) == .broken)
        #expect(state(.repeatable, evaluation) == .undecided)
        #expect(evaluation.conclusion.cause?.message.contains("-25300") == true)
    }

    @Test func aSecondWriteBreaksG2() throws {
        func second(_ items: [String], _ migration: String) throws -> AttemptEvaluation {
            var evaluation = try seeded(BuiltInCases.restart)
            evaluation.record(
                try Fixtures.status(.verify, launch: 2, items: [Fixtures.item(.target)]),
                of: .verify(.readable),
                facts: Fixtures.continuity
            )
            evaluation.record(
                try Fixtures.status(.verify, launch: 3, items: items, migration: migration),
                of: .verify(.repeatable),
                facts: Fixtures.continuity
            )
            evaluation.recordSecrecy(leaks: [])
            return evaluation
        }
        let quiet = #"{"outcome":"already-migrated","wrote":false}"#
        #expect(try second([Fixtures.item(.target)], quiet).conclusion.outcome == .passed)
        #expect(state(.repeatable, try second([Fixtures.item(.target, modified: 11)], quiet)) == .broken)
        #expect(state(.repeatable, try second([Fixtures.item(.target, .missing)], quiet)) == .broken)
        let loud = #"{"outcome":"migrated","wrote":true}"#
        #expect(state(.repeatable, try second([Fixtures.item(.target)], loud)) == .broken)
    }

    @Test(arguments: [
        LaunchObservation.ended("signal 11"), .hung(seconds: 30), .oversized(1 << 20),
        .malformed(FormatError(document: "status file", problem: "x")), .unexpectedName("9-seed.json"),
    ])
    func theSeedDividesFarmFromProduct(observation: LaunchObservation) throws {
        var before = evaluation()
        before.record(observation, of: .seed, facts: Fixtures.continuity)
        #expect(before.conclusion.outcome == .errored)
        #expect(before.conclusion.cause?.code.hasPrefix("seed-") == true)
        #expect(before.conclusion.checks.allSatisfy { $0.state == .undecided })
        var after = try seeded()
        after.record(observation, of: .verify(.readable), facts: Fixtures.continuity)
        #expect(after.conclusion.outcome == .failed)
        #expect(state(.readable, after) == .broken)
    }

    @Test func foreignStatusFilesAreJudgedByTheirPhase() throws {
        let foreign = String(repeating: "0", count: 32)
        var before = evaluation()
        before.record(
            try Fixtures.status(.seed, launch: 1, nonce: foreign, items: [Fixtures.item(.legacy)]),
            of: .seed,
            facts: Fixtures.continuity
        )
        #expect(before.conclusion.cause?.code == "seed-status-foreign")
        var after = try seeded()
        after.record(
            try Fixtures.status(.verify, launch: 2, nonce: foreign, items: [Fixtures.item(.target)]),
            of: .verify(.readable),
            facts: Fixtures.continuity
        )
        #expect(after.conclusion.outcome == .failed)
    }

    @Test func doubtAboutTheDeviceIsVoidNotFailed() throws {
        func verify(
            launch: Int = 2,
            marker: UInt64? = 7,
            otherSuffixes: Int = 0,
            continuity: ContinuityFacts = Fixtures.continuity
        ) throws -> AttemptEvaluation {
            var evaluation = try seeded()
            evaluation.record(
                try Fixtures.status(
                    .verify,
                    launch: launch,
                    marker: marker,
                    items: [Fixtures.item(.target, .missing)],
                    otherSuffixes: otherSuffixes
                ),
                of: .verify(.readable),
                facts: continuity
            )
            return evaluation
        }
        let os = Fixtures.os
        let moved = ContinuityFacts(bootID: "boot", dataContainer: "other", os: os)
        let rebooted = ContinuityFacts(bootID: "other", dataContainer: "data", os: os)
        let updated = ContinuityFacts(bootID: "boot", dataContainer: "data", os: OSPin(version: "18.1", build: "x"))
        #expect(try verify(launch: 3).conclusion.cause?.code == "continuity-launches")
        #expect(try verify(marker: 6).conclusion.cause?.code == "continuity-epoch")
        #expect(try verify(marker: nil).conclusion.cause?.code == "continuity-epoch")
        #expect(try verify(otherSuffixes: 1).conclusion.cause?.code == "not-clean")
        #expect(try verify(continuity: moved).conclusion.cause?.code == "continuity-container")
        #expect(try verify(continuity: rebooted).conclusion.cause?.code == "continuity-boot")
        #expect(try verify(continuity: updated).conclusion.cause?.code == "continuity-os")
        #expect(try verify(launch: 3).conclusion.outcome == .void)
    }

    @Test func aSeedThatCannotBeReadBackProvesNothing() throws {
        var evaluation = evaluation()
        evaluation.record(
            try Fixtures.status(.seed, launch: 1, items: [Fixtures.item(.legacy, content: .differs)]),
            of: .seed,
            facts: Fixtures.continuity
        )
        #expect(evaluation.conclusion.cause?.code == "seed-not-verified")
    }

    @Test func cleanupMustBeExact() throws {
        func cleaned(own: Int, bystanders: Int) throws -> AttemptEvaluation {
            var evaluation = evaluation(BuiltInCases.freshInstall)
            evaluation.record(
                try Fixtures.status(.verify, launch: 1, marker: nil, items: [Fixtures.item(.target)]),
                of: .verify(.freshInstall),
                facts: Fixtures.continuity
            )
            evaluation.record(
                try Fixtures.status(.cleanup, launch: 2, items: [], after: (own, bystanders)),
                of: .cleanup,
                facts: Fixtures.continuity
            )
            evaluation.recordSecrecy(leaks: [])
            return evaluation
        }
        #expect(try cleaned(own: 0, bystanders: 0).conclusion.outcome == .passed)
        #expect(try cleaned(own: 1, bystanders: 0).conclusion.cause?.code == "cleanup-incomplete")
        #expect(try cleaned(own: 0, bystanders: 1).conclusion.cause?.code == "cleanup-touched-bystanders")
    }
}
