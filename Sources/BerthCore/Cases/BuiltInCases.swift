/// The cases that every farm knows.
package enum BuiltInCases {
    /// M1
    package static let freshInstall = CaseDefinition(
        name: "fresh-install",
        version: 1,
        scenario: "Fresh install: no old item; the new build creates the new item (M1).",
        checks: [.freshInstall, .secretsStay],
        steps: [.install(.new), .launch(.verify, create: true)]
    )

    /// M2
    package static let update = CaseDefinition(
        name: "update",
        version: 1,
        scenario: "Update over the old build: the item that it wrote is readable after the migration (M2).",
        checks: [.readable, .secretsStay],
        steps: [
            .install(.old), .launch(.seed, create: false), .install(.new), .launch(.verify, create: false),
        ]
    )

    /// M3
    package static let restart = CaseDefinition(
        name: "restart",
        version: 1,
        scenario: "Restart after a completed migration: nothing is written twice (M3).",
        checks: [.readable, .repeatable, .secretsStay],
        steps: [
            .install(.old), .launch(.seed, create: false), .install(.new), .launch(.verify, create: false), .terminate,
            .launch(.verify, create: false),
        ]
    )

    /// All of them, in the order of the acceptance matrix.
    package static let all = [freshInstall, update, restart]
}
