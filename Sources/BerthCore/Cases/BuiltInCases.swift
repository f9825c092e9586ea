/// The cases that every farm knows.
package enum BuiltInCases {
    /// M1
    package static let freshInstall = CaseDefinition(
        name: "fresh-install",
        version: 1,
        scenario: "Fresh install: no old item; the new build creates the new item (M1).",
        steps: [.install(.new), .launch(.verify(.freshInstall, creates: true))]
    )

    /// M2
    package static let update = CaseDefinition(
        name: "update",
        version: 1,
        scenario: "Update over the old build: the item that it wrote is readable after the migration (M2).",
        steps: [.install(.old), .launch(.seed), .install(.new), .launch(.verify(.readable))]
    )

    /// M3
    package static let restart = CaseDefinition(
        name: "restart",
        version: 1,
        scenario: "Restart after a completed migration: nothing is written twice (M3).",
        steps: [
            .install(.old), .launch(.seed), .install(.new), .launch(.verify(.readable)), .terminate,
            .launch(.verify(.repeatable)),
        ]
    )

    /// M4
    package static let corruptItem = CaseDefinition(
        name: "corrupt-item",
        version: 1,
        scenario: "The old item is malformed: it is kept as it is, and the error is clear (M4, G3).",
        steps: [
            .install(.old), .launch(malformedSeed), .install(.new), .launch(.verify(.nothingDeleted, .errorClear)),
        ]
    )

    /// M5
    package static let groupChanged = CaseDefinition(
        name: "group-changed",
        version: 1,
        scenario: "The new build's access groups: if it cannot reach the old item, it must not be released (M5).",
        steps: [.install(.old), .launch(.seed), .install(.new), .launch(.verify(.groupReachable))]
    )

    /// C2
    package static let writeRefused = CaseDefinition(
        name: "write-refused",
        version: 1,
        scenario: "The new item's first write is refused: nothing is lost, and the next start migrates (C2).",
        steps: [
            .install(.old), .launch(.seed), .install(.new),
            .fault(KeychainFault(call: .add, status: -25291)), .launch(.verify(.originalKept)),
            .launch(.verify(.readable)),
        ]
    )

    /// C4
    package static let markerWithoutData = CaseDefinition(
        name: "marker-without-data",
        version: 1,
        scenario: "The marker says that the migration is complete, the new item is gone, the old one is there (C4).",
        steps: [
            .install(.old), .launch(.seed), .install(.new),
            .launch(.prepare(.init(marker: .own, deletesTarget: true))), .launch(.verify(.dataSought)),
        ]
    )

    /// E1
    package static let updateBystanders = CaseDefinition(
        name: "update-bystanders",
        version: 1,
        scenario: "Update beside other items of the app: migration and cleanup leave them as they are (E1).",
        steps: [
            .install(.old), .launch(.prepare(.init(bystanders: 3))), .launch(.seed), .install(.new),
            .launch(.verify(.readable, .bystandersUntouched)),
        ]
    )

    /// B3
    package static let productionBuild = CaseDefinition(
        name: "production-build",
        version: 1,
        scenario: "A build for the shop does not react to the test arguments: no status file, no item (B3).",
        steps: [
            .install(.new), .launch(silent(.seed)), .launch(silent(.verify)), .install(.old),
            .launch(CaseLaunch(.census, decides: [.productionSilent])),
        ]
    )

    /// S3
    package static let throughTransitional = CaseDefinition(
        name: "through-transitional",
        version: 1,
        scenario: "Update by way of a transitional build that moves the item to where the new build can read it (S3).",
        steps: [
            .install(.old), .launch(.seed), .install(.transitional), .launch(.verify(.readable)), .install(.new),
            .launch(.verify(.readable, .groupReachable)),
        ]
    )

    /// Those of an old and a new build: the acceptance matrix, then the further ones.
    package static let ofTwoBuilds = [
        freshInstall, update, restart, corruptItem, groupChanged, writeRefused, markerWithoutData, updateBystanders,
        productionBuild,
    ]

    /// All of them.
    package static let all = ofTwoBuilds + [throughTransitional]

    private static var malformedSeed: CaseLaunch {
        var launch = CaseLaunch.seed
        launch.isMalformed = true
        return launch
    }

    private static func silent(_ phase: LaunchPhase) -> CaseLaunch {
        var launch = CaseLaunch(phase, decides: [.productionSilent])
        launch.expectation = .silence
        launch.creates = phase == .verify
        return launch
    }
}
