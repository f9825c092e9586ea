import BerthCore
import Testing

/// What each rule makes of a status file: one row per way to keep or break it.
struct RuleTests {
    /// A verifying launch after a seed: which rule, what the probe found, and what comes of it.
    struct Row: Sendable, CustomStringConvertible {
        let rule: RuleID
        var target: (StatusFile.Item.Read, StatusFile.Item.Content) = (.missing, .unread)
        var legacy: (StatusFile.Item.Read, StatusFile.Item.Content) = (.missing, .unread)
        var migration: String?
        let state: CheckResult.State
        /// Words that the reason must have.
        var reason = ""

        var description: String { "\(rule) target \(target) legacy \(legacy) → \(state)" }
    }

    private static let failed = #"{"outcome":"failed","wrote":false,"status":-26275,"reason":"malformed"}"#
    private static let matches = (StatusFile.Item.Read.found, StatusFile.Item.Content.matches)
    private static let differs = (StatusFile.Item.Read.found, StatusFile.Item.Content.differs)

    static let rows: [Row] = [
        Row(rule: .readable, target: matches, state: .held),
        Row(rule: .readable, target: differs, legacy: matches, state: .broken, reason: "content differs"),
        Row(rule: .readable, legacy: matches, state: .broken, reason: "-25300"),
        Row(rule: .migrated, target: matches, state: .held),
        Row(rule: .dataSought, target: matches, state: .held),
        Row(rule: .dataSought, legacy: matches, state: .broken, reason: "believed the marker"),
        Row(rule: .groupReachable, target: matches, state: .held),
        Row(rule: .groupReachable, state: .broken, reason: "check the signing configuration"),
        Row(rule: .groupReachable, legacy: matches, state: .broken, reason: "does not move it"),
        Row(rule: .nothingDeleted, legacy: matches, state: .held),
        Row(rule: .nothingDeleted, target: matches, state: .held),
        Row(rule: .nothingDeleted, target: differs, state: .broken, reason: "lost"),
        Row(rule: .originalKept, legacy: matches, migration: failed, state: .held),
        Row(rule: .originalKept, target: matches, state: .held),
        Row(rule: .originalKept, migration: failed, state: .broken, reason: "lost"),
        Row(rule: .errorClear, legacy: matches, migration: failed, state: .held),
        Row(rule: .errorClear, legacy: matches, state: .broken, reason: "no migration"),
        Row(
            rule: .errorClear,
            legacy: matches,
            migration: #"{"outcome":"nothing-to-migrate","wrote":false}"#,
            state: .broken,
            reason: "nothing-to-migrate"
        ),
        Row(
            rule: .errorClear,
            legacy: matches,
            migration: #"{"outcome":"failed","wrote":false}"#,
            state: .broken,
            reason: "without an OSStatus"
        ),
        Row(rule: .errorClear, migration: failed, state: .broken, reason: "not kept"),
    ]

    @Test(arguments: rows)
    func aVerificationDecides(row: Row) throws {
        var evaluation = AttemptEvaluation(definition: Self.definition(row.rule), nonce: Fixtures.nonce, epoch: 7)
        try Self.seed(&evaluation)
        let items = [
            Fixtures.item(.target, row.target.0, content: row.target.1),
            Fixtures.item(.legacy, row.legacy.0, content: row.legacy.1),
        ]
        evaluation.record(
            try Fixtures.status(.verify, launch: 2, items: items, migration: row.migration),
            of: CaseLaunch(.verify, decides: [row.rule]),
            facts: Fixtures.continuity
        )
        let check = try #require(evaluation.conclusion.checks.first { $0.id == row.rule })
        #expect(check.state == row.state)
        #expect(row.reason.isEmpty || check.reason?.contains(row.reason) == true, "\(check.reason ?? "")")
        #expect(evaluation.goesOn == (row.state == .held))
        if row.state == .broken { #expect(evaluation.conclusion.cause?.code == "\(row.rule)-broken") }
    }

    @Test("M5 names the access groups of both builds where they are known")
    func accessGroups() throws {
        var evaluation = AttemptEvaluation(
            definition: BuiltInCases.groupChanged,
            nonce: Fixtures.nonce,
            epoch: 7
        )
        evaluation.recordInstallation(.old, accessGroups: ["A.app"], facts: Fixtures.continuity)
        try Self.seed(&evaluation)
        evaluation.recordInstallation(.new, accessGroups: ["B.app"], facts: Fixtures.continuity)
        evaluation.record(
            try Fixtures.status(.verify, launch: 2, items: [Fixtures.item(.target, .missing)]),
            of: .verify(.groupReachable),
            facts: Fixtures.continuity
        )
        let reason = evaluation.conclusion.cause?.message ?? ""
        #expect(reason.contains("old build's are A.app") && reason.contains("new build's are B.app"), "\(reason)")
    }

    @Test("G3 tells the loss, and M4 is not decided besides")
    func oneFaultOneCheck() throws {
        var evaluation = AttemptEvaluation(definition: BuiltInCases.corruptItem, nonce: Fixtures.nonce, epoch: 7)
        try Self.seed(&evaluation)
        evaluation.record(
            try Fixtures.status(.verify, launch: 2, items: [], migration: Self.failed),
            of: .verify(.nothingDeleted, .errorClear),
            facts: Fixtures.continuity
        )
        let states = evaluation.conclusion.checks.map { "\($0.id) \($0.state)" }
        #expect(states == ["G3 broken", "M4 undecided", "D2 undecided"])
    }

    @Test(
        "E1: bystanders are counted around the migration and after the cleanup",
        arguments: [
            (after: 2, cleaned: 2, "passed"), (after: 1, cleaned: 1, "E1-broken"), (after: 2, cleaned: 0, "E1-broken"),
        ]
    )
    func bystanders(after: Int, cleaned: Int, expected: String) throws {
        var evaluation = AttemptEvaluation(
            definition: Self.definition(.bystandersUntouched),
            nonce: Fixtures.nonce,
            epoch: 7
        )
        try Self.seed(&evaluation, bystanders: 2)
        evaluation.record(
            try Fixtures.status(
                .verify,
                launch: 2,
                items: [Fixtures.item(.target)],
                ownSuffix: 1,
                after: (1, after),
                bystanders: 2
            ),
            of: CaseLaunch(.verify, decides: [.bystandersUntouched]),
            facts: Fixtures.continuity
        )
        if evaluation.goesOn {
            evaluation.record(
                try Fixtures.status(.cleanup, launch: 3, items: [], ownSuffix: 1, after: (0, cleaned), bystanders: 2),
                of: .cleanup,
                facts: Fixtures.continuity
            )
        }
        evaluation.recordSecrecy(leaks: [])
        let conclusion = evaluation.conclusion
        #expect((conclusion.cause?.code ?? conclusion.outcome.rawValue) == expected, "\(conclusion)")
    }

    @Test("B3: silence and a count by the other build; either of them breaks it")
    func production() throws {
        func evaluate(_ observation: LaunchObservation, own: Int) throws -> AttemptEvaluation {
            var evaluation = AttemptEvaluation(
                definition: BuiltInCases.productionBuild,
                nonce: Fixtures.nonce,
                epoch: 7
            )
            for launch in BuiltInCases.productionBuild.launches.dropLast() {
                evaluation.record(observation, of: launch, facts: Fixtures.continuity)
            }
            evaluation.record(
                try Fixtures.status(.census, launch: 1, marker: nil, items: [], ownSuffix: own),
                of: CaseLaunch(.census, decides: [.productionSilent]),
                facts: Fixtures.continuity
            )
            evaluation.recordSecrecy(leaks: [])
            return evaluation
        }
        #expect(try evaluate(.hung(seconds: 3), own: 0).conclusion.outcome == .passed)
        #expect(try evaluate(.hung(seconds: 3), own: 1).conclusion.cause?.code == "B3-broken")
        #expect(try evaluate(.ended("signal 9"), own: 0).conclusion.cause?.code == "B3-broken")
        let status = try Fixtures.status(.seed, launch: 1, items: [])
        #expect(try evaluate(status, own: 0).conclusion.cause?.code == "B3-broken")
    }

    @Test("A kill counts only if the next launch tells of it")
    func kills() throws {
        func evaluate(_ observation: LaunchObservation, interrupted: String?) throws -> AttemptEvaluation {
            var evaluation = AttemptEvaluation(
                definition: Self.definition(.originalKept),
                nonce: Fixtures.nonce,
                epoch: 7
            )
            try Self.seed(&evaluation)
            var launch = CaseLaunch(.verify)
            launch.killAt = .afterAdd
            evaluation.record(observation, of: launch, facts: Fixtures.continuity)
            evaluation.record(
                try Fixtures.status(
                    .verify,
                    launch: 3,
                    items: [Fixtures.item(.target), Fixtures.item(.legacy)],
                    interrupted: interrupted
                ),
                of: .verify(.originalKept),
                facts: Fixtures.continuity
            )
            evaluation.recordSecrecy(leaks: [])
            return evaluation
        }
        let killed = LaunchObservation.ended("gone")
        let told = #"{"launch":2,"point":"after-add"}"#
        #expect(try evaluate(killed, interrupted: told).conclusion.outcome == .passed)
        #expect(try evaluate(killed, interrupted: nil).conclusion.cause?.code == "verify-crashed")
        let status = try Fixtures.status(.verify, launch: 2, items: [Fixtures.item(.target)])
        let unreached = try evaluate(status, interrupted: nil).conclusion
        #expect(unreached.outcome == .errored && unreached.cause?.code == "kill-point-not-reached")
    }

    @Test("What no step of the case did makes an attempt void, and what a step did does not")
    func continuity() throws {
        func cause(_ change: (inout AttemptEvaluation) -> Void) throws -> String? {
            var evaluation = AttemptEvaluation(definition: BuiltInCases.update, nonce: Fixtures.nonce, epoch: 7)
            evaluation.recordInstallation(.old, accessGroups: nil, facts: Self.facts())
            evaluation.record(
                try Fixtures.status(.seed, launch: 1, items: [Fixtures.item(.legacy)], after: (1, 0)),
                of: .seed,
                facts: Self.facts()
            )
            change(&evaluation)
            #expect(evaluation.conclusion.outcome == .void || evaluation.goesOn)
            return evaluation.conclusion.outcome == .void ? evaluation.conclusion.cause?.code : nil
        }
        #expect(try cause { $0.recordState(Self.facts(launch: 1, epoch: 7)) } == nil)
        #expect(try cause { $0.recordState(Self.facts(launch: 2, epoch: 7)) } == "continuity-launches")
        #expect(try cause { $0.recordState(Self.facts(launch: nil, epoch: nil)) } == "continuity-launches")
        #expect(try cause { $0.recordState(Self.facts(launch: 1, epoch: 6)) } == "continuity-epoch")
        #expect(try cause { $0.recordState(Self.facts(boot: "other", launch: 1)) } == "continuity-boot")
        #expect(try cause { $0.recordState(Self.facts(app: "other", launch: 1)) } == "continuity-installation")
        #expect(try cause { $0.recordInstallation(.new, accessGroups: nil, facts: Self.facts(app: "2")) } == nil)
        #expect(try cause { $0.recordReboot(Self.facts(boot: "2")) } == nil)
        #expect(try cause { $0.recordReboot(Self.facts()) } == "continuity-boot")
        for (own, bystanders) in [(1, 1), (2, 0), (0, 0)] {
            let status = try Fixtures.status(
                .verify,
                launch: 2,
                items: [Fixtures.item(.target)],
                ownSuffix: own,
                bystanders: bystanders
            )
            #expect(
                try cause { $0.record(status, of: .verify(.readable), facts: Self.facts()) } == "continuity-items",
                "\(own) own items, \(bystanders) bystanders"
            )
        }
    }

    private static func facts(
        boot: String = "1",
        app: String = "1",
        launch: Int? = 1,
        epoch: UInt64? = 7
    ) -> ContinuityFacts {
        ContinuityFacts(
            bootID: boot,
            dataContainer: "data",
            os: Fixtures.os,
            appContainer: app,
            trace: .init(launch: launch, epoch: epoch)
        )
    }

    private static func definition(_ rule: RuleID) -> CaseDefinition {
        let launch = CaseLaunch(.verify, decides: [rule])
        return CaseDefinition(
            name: "row",
            version: 1,
            scenario: "",
            steps: [.install(.old), .launch(.seed), .install(.new), .launch(launch)]
        )
    }

    private static func seed(_ evaluation: inout AttemptEvaluation, bystanders: Int = 0) throws {
        evaluation.record(
            try Fixtures.status(.seed, launch: 1, items: [Fixtures.item(.legacy)], bystanders: bystanders),
            of: .seed,
            facts: Fixtures.continuity
        )
    }
}
