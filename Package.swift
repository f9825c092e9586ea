// swift-tools-version: 6.2

import Foundation
import PackageDescription

// One section per area, each target followed by its tests; docs/architecture.md says what belongs where.

let settings: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

// A Mac that only carries agents has none of the coordinator's C libraries: BERTH_AGENT_ONLY=1 leaves them out.
let agentOnly = ProcessInfo.processInfo.environment["BERTH_AGENT_ONLY"] == "1"

var products: [Product] = [
    .library(name: "KeychainMigration", targets: ["KeychainMigration"]),
    .executable(name: "berth", targets: ["berth"]),
    .executable(name: "berth-agent", targets: ["berth-agent"]),
]

var targets: [Target] = [
    // The farm's common ground
    .target(name: "CBerthSystem"),
    .target(name: "BerthSystem", dependencies: ["CBerthSystem"]),
    .testTarget(name: "BerthSystemTests", dependencies: ["BerthSystem", "BerthTestSupport"]),
    .target(name: "BerthTestSupport", dependencies: ["BerthSystem"], path: "Tests/BerthTestSupport"),
    .target(name: "BerthCore"),
    .testTarget(name: "BerthCoreTests", dependencies: ["BerthCore", "BerthSystem", "BerthArchive"]),
    .target(name: "CodeSignature"),
    .testTarget(name: "CodeSignatureTests", dependencies: ["CodeSignature"], exclude: ["Fixtures"]),
    .target(name: "BerthArchive", dependencies: ["BerthCore", "BerthSystem", "CodeSignature"]),
    .testTarget(
        name: "BerthArchiveTests",
        dependencies: ["BerthArchive", "BerthCore", "BerthSystem", "BerthTestSupport"]
    ),
    .executableTarget(name: "berth", dependencies: ["BerthCore", "BerthSystem", "BerthArchive"]),
    .testTarget(
        name: "BerthCLITests",
        dependencies: ["berth", "BerthCore", "BerthSystem", "BerthArchive", "BerthTestSupport"],
        exclude: ["Recorded"]
    ),

    // For app developers
    .target(name: "KeychainMigration", exclude: ["README.md"]),
    .testTarget(name: "KeychainMigrationTests", dependencies: ["KeychainMigration"]),

    // The agent
    .target(
        name: "BerthAgent",
        dependencies: ["BerthCore", "BerthSystem", "BerthArchive", "CodeSignature"],
        path: "agent/BerthAgent"
    ),
    .executableTarget(
        name: "berth-agent",
        dependencies: ["BerthAgent", "BerthCore", "BerthSystem"],
        path: "agent/berth-agent"
    ),
    .testTarget(
        name: "BerthAgentTests",
        dependencies: ["BerthAgent", "BerthCore", "BerthSystem", "BerthArchive", "BerthTestSupport", "CodeSignature"],
        exclude: ["Fixtures"]
    ),
]

#if os(Linux)
    targets += [
        .systemLibrary(name: "CCrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        // The fault harness's layer under SQLite
        .target(name: "CLossySQLite", dependencies: ["CSQLite"]),
        .target(name: "SQLiteDatabase", dependencies: ["CSQLite", "CLossySQLite", "BerthSystem"]),
        .systemLibrary(name: "CYAML", pkgConfig: "yaml-0.1", providers: [.apt(["libyaml-dev"])]),
        .target(name: "YAMLReader", dependencies: ["CYAML", "BerthCore"]),

        // The simulated device
        .target(name: "Security"),
        .testTarget(name: "SecurityTests", dependencies: ["Security", "SimulatedDevice", "BerthSystem"]),
        .target(
            name: "SimulatedDevice",
            dependencies: ["BerthSystem", "CBerthSystem", "SQLiteDatabase"],
            exclude: ["README.md"]
        ),
        .executableTarget(name: "berth-sim", dependencies: ["SimulatedDevice", "BerthSystem"]),
        .testTarget(name: "SimulatedDeviceTests", dependencies: ["SimulatedDevice", "BerthSystem"]),

        // The sample builds of the demonstration
        .target(
            name: "SampleAppSupport",
            dependencies: ["KeychainMigration"],
            path: "Sources/SampleApps/SampleAppSupport"
        ),
        .executableTarget(
            name: "legacy",
            dependencies: ["KeychainMigration", "SampleAppSupport", "Security"],
            path: "Sources/SampleApps/legacy"
        ),
        .executableTarget(
            name: "correct",
            dependencies: ["KeychainMigration", "SampleAppSupport", "Security"],
            path: "Sources/SampleApps/correct"
        ),
        .executableTarget(
            name: "renamed-query",
            dependencies: ["KeychainMigration", "SampleAppSupport", "Security"],
            path: "Sources/SampleApps/renamed-query"
        ),
        .executableTarget(
            name: "claims-success",
            dependencies: ["KeychainMigration", "SampleAppSupport", "Security"],
            path: "Sources/SampleApps/claims-success"
        ),
        // An app that does what a file in its bundle says, for tests
        .executableTarget(name: "scripted-app", path: "Sources/SampleApps/scripted-app"),
    ]
    // Builds with one fault each, the one that ships, and the one between two access groups
    let furtherBuilds = [
        "accessibility-filter", "deletes-corrupt", "delete-first", "trusts-marker", "group-changed", "broad-delete",
        "writes-again", "production", "production-reacts", "transitional",
    ]
    for name in furtherBuilds {
        targets.append(
            .executableTarget(
                name: name,
                dependencies: ["KeychainMigration", "SampleAppSupport", "Security"],
                path: "Sources/SampleApps/\(name)"
            )
        )
    }
    products += [
        .library(name: "Security", targets: ["Security"]),
        .executable(name: "berth-sim", targets: ["berth-sim"]),
    ]
    for target in targets where target.name == "BerthSystem" {
        target.dependencies.append("CCrypto")
    }
    // Plan files are read on Linux only so far.
    for target in targets where ["berth", "BerthCoreTests"].contains(target.name) {
        target.dependencies.append("YAMLReader")
    }
    // Its behaviour file is on the page of formats.
    for target in targets where target.name == "BerthCoreTests" {
        target.dependencies.append("scripted-app")
    }
    // On Linux the sample apps are tested on a simulated device.
    for target in targets where target.name == "KeychainMigrationTests" {
        target.dependencies.append("BerthSystem")
    }
    for target in targets where target.name == "KeychainMigration" || target.name == "KeychainMigrationTests" {
        target.dependencies.append("Security")
    }

    if !agentOnly {
        targets += [
            .systemLibrary(name: "CMicroHTTPD", pkgConfig: "libmicrohttpd", providers: [.apt(["libmicrohttpd-dev"])]),
            .systemLibrary(name: "CPostgres", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
            .target(name: "PostgresDatabase", dependencies: ["CPostgres", "SQLiteDatabase"]),
            .systemLibrary(name: "CSSH2", pkgConfig: "libssh2", providers: [.apt(["libssh2-1-dev"])]),

            // The coordinator
            .target(
                name: "BerthStore",
                dependencies: ["BerthCore", "BerthSystem", "SQLiteDatabase", "PostgresDatabase"],
                path: "coordinator/BerthStore",
                exclude: ["README.md"]
            ),
            .testTarget(
                name: "BerthStoreTests",
                dependencies: ["BerthStore", "BerthCore", "BerthSystem", "SQLiteDatabase", "BerthTestSupport"]
            ),
            .target(
                name: "BerthHosts",
                dependencies: ["BerthCore", "BerthSystem", "CSSH2"],
                path: "coordinator/BerthHosts",
                exclude: ["README.md"]
            ),
            .testTarget(name: "BerthHostsTests", dependencies: ["BerthHosts", "BerthSystem", "BerthTestSupport"]),
            .target(
                name: "BerthCoordinator",
                dependencies: [
                    "BerthCore", "BerthSystem", "BerthArchive", "BerthStore", "BerthHosts", "CMicroHTTPD",
                    "SQLiteDatabase",
                ],
                path: "coordinator/BerthCoordinator",
                exclude: ["Dashboard/README.md"],
                // Compiled in, so that the program needs no folder beside it.
                resources: [.embedInCode("Dashboard/Page")]
            ),
            .executableTarget(
                name: "berth-coordinator",
                dependencies: ["BerthCoordinator", "BerthCore", "BerthStore", "BerthSystem"],
                path: "coordinator/berth-coordinator"
            ),
            .testTarget(
                name: "BerthCoordinatorTests",
                dependencies: [
                    "BerthCoordinator", "BerthArchive", "BerthCore", "BerthHosts", "BerthStore", "BerthSystem",
                    "BerthTestSupport",
                ]
            ),
            .testTarget(
                name: "EndToEndTests",
                dependencies: [
                    "BerthCore", "BerthSystem", "BerthArchive", "BerthStore", "SimulatedDevice", "BerthTestSupport",
                    "BerthFaults",
                ]
            ),
        ]
        targets.append(
            // Measures beside peers for ops/bench; in it alone one process may hold several agents.
            .executableTarget(
                name: "berth-bench",
                dependencies: [
                    "BerthAgent", "BerthArchive", "BerthCoordinator", "BerthCore", "BerthHosts", "BerthStore",
                    "BerthSystem", "BerthTestSupport", "CSSH2", "SQLiteDatabase",
                ],
                path: "bench/berth-bench"
            )
        )
        targets += [
            // The fault harness
            .executableTarget(name: "stand-in-device", path: "bench/stand-in-device"),
            .target(
                name: "BerthFaults",
                dependencies: ["BerthArchive", "BerthCore", "BerthSystem", "BerthTestSupport"],
                path: "bench/BerthFaults"
            ),
            .executableTarget(
                name: "berth-faults",
                dependencies: ["BerthFaults", "BerthCore", "BerthSystem"],
                path: "bench/berth-faults"
            ),
            .testTarget(
                name: "BerthFaultsTests",
                dependencies: ["BerthFaults", "BerthArchive", "BerthCore", "BerthSystem", "BerthTestSupport"]
            ),
        ]
        products.append(.executable(name: "berth-coordinator", targets: ["berth-coordinator"]))
    }
#endif

let targetsInC = ["CBerthSystem", "CLossySQLite"]
for target in targets where target.type != .system && !targetsInC.contains(target.name) {
    target.swiftSettings = settings
    // The sample builds are test builds: the probe is compiled in, and left out of the one that stands for a shipping build.
    if target.path?.hasPrefix("Sources/SampleApps/") == true, target.name != "production" {
        target.swiftSettings?.append(.define("BERTH_PROBE"))
    }
}

let package = Package(
    name: "berth",
    platforms: [.macOS(.v15), .iOS(.v13)],
    products: products,
    targets: targets,
    swiftLanguageModes: [.v6]
)
