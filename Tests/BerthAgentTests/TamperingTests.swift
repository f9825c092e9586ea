import BerthCore
import BerthSystem
import Foundation
import Testing

/// Somebody else is at work on the device between seed and verification: nothing is proved then, and the reason is told.
@Suite(.serialized, .timeLimit(.minutes(8))) struct TamperingTests {
    /// What is done behind the agent's back, once, right after the seed.
    struct Tampering: Sendable, CustomStringConvertible {
        let description: String
        /// Shell lines; `simctl` calls the device, `$udid` is its UDID and `$set` the device set.
        let lines: String
        let cause: String
        let words: String
    }

    static let tamperings = [
        Tampering(
            description: "another app adds an item to the access group",
            lines: """
                simctl install "$udid" "$root/second.app"
                simctl launch "$udid" com.example.second -BerthPrepare -BerthBystanders 1 \\
                    -BerthNonce 00000000000000000000000000000001
                data=$(simctl get_app_container "$udid" com.example.second data)
                for i in $(seq 200); do
                    [ -e "$data/Documents/berth/1-prepare.json" ] && break
                    sleep 0.05
                done
                """,
            cause: "continuity-items",
            words: "1 items that are not the migration's"
        ),
        Tampering(
            description: "the app is installed once more over itself",
            lines: #"simctl install "$udid" "$root"/state/bundles/*/legacy.app"#,
            cause: "continuity-installation",
            words: "installed anew"
        ),
        Tampering(
            description: "the app is uninstalled and installed again",
            lines: """
                simctl uninstall "$udid" com.example.product
                simctl install "$udid" "$root"/state/bundles/*/legacy.app
                """,
            cause: "continuity-container",
            words: "uninstalled"
        ),
        Tampering(
            description: "the app is uninstalled",
            lines: #"simctl uninstall "$udid" com.example.product"#,
            cause: "continuity-container",
            words: "no longer installed"
        ),
        Tampering(
            description: "the device is rebooted",
            lines: """
                simctl shutdown "$udid"
                simctl bootstatus "$udid" -b
                """,
            cause: "continuity-boot",
            words: "booted anew"
        ),
        Tampering(
            description: "an older copy of the device's folder is put back",
            lines: """
                simctl shutdown "$udid"
                rm -rf "$set/$udid"
                cp -a "$root/older" "$set/$udid"
                simctl bootstatus "$udid" -b
                """,
            cause: "continuity-boot",
            words: "booted anew"
        ),
        Tampering(
            description: "an older copy of the app's data is put back while the device runs",
            lines: """
                data=$(simctl get_app_container "$udid" com.example.product data)
                rm -rf "$data"
                cp -a "$root/older/data/Containers/Data/Application/$(basename "$data")" "$data"
                """,
            cause: "continuity-launches",
            words: "its data is older"
        ),
        Tampering(
            description: "the app is launched once more",
            lines: """
                simctl launch "$udid" com.example.product -BerthCensus
                data=$(simctl get_app_container "$udid" com.example.product data)
                for i in $(seq 200); do
                    [ -e "$data/Documents/berth/2-census.json" ] && break
                    sleep 0.05
                done
                """,
            cause: "continuity-launches",
            words: "somebody else"
        ),
    ]

    @Test(arguments: tamperings)
    func whatSomebodyElseDidIsNoticed(tampering: Tampering) async throws {
        try await AgentHost.run { host in
            try await bundleSecondApp(host)
            // A copy of the device after the first installation; the tampering at the end of the seed's launch.
            try host.wrapTool(
                """
                set=$3 verb=$4 udid=$5
                simctl() { local verb=$1; shift; ( real simctl --set "$set" "$verb" "$@" ); }
                if [ "$verb" = install ] && mkdir "$root/once-copied" 2>/dev/null; then
                    ( real "$@" ) || exit
                    cp -a "$set/$udid" "$root/older"
                    exit 0
                fi
                if [ "$verb" = terminate ] && mkdir "$root/once-tampered" 2>/dev/null; then
                    ( real "$@" ) || exit
                    {
                \(tampering.lines)
                    } >"$root/tampering.log" 2>&1
                    exit 0
                fi
                """
            )
            try await host.serve(wrapped: true)
            let coordinator = try await host.attach()
            _ = try await coordinator.agentHello()
            let builds = [
                try await TestBuild.sample("legacy", version: "1.0", in: host.bundles),
                try await TestBuild.sample("correct", version: "2.0", in: host.bundles),
            ]
            let report = try await host.perform(coordinator, "a-1", 1, builds)
            let log = host.read("tampering.log") ?? "no tampering"
            #expect(report.outcome == .void, "\(String(describing: report.cause)); \(log)")
            #expect(report.cause?.code == tampering.cause, "\(String(describing: report.cause)); \(log)")
            #expect(report.cause?.message.contains(tampering.words) == true, "\(String(describing: report.cause))")
            guard tampering.description == Self.tamperings.first?.description else { return }
            // The same way without anybody else is fine; once is enough to know it.
            let again = try await host.perform(coordinator, "a-2", 2, builds)
            #expect(again.outcome == .passed, "\(String(describing: again.cause))")
        }
    }

    /// An app of another name with the same access group.
    private func bundleSecondApp(_ host: AgentHost) async throws {
        let result = try await CommandRunner.run(
            ProcessSpecification(
                executable: Products.repository + "/ops/bundle-app",
                arguments: [
                    Products.path("legacy"), host.root + "/second.app", "--bundle-id", "com.example.second",
                    "--version", "1.0", "--build", "1", "--entitlements",
                    Products.repository + "/Sources/SampleApps/Product.entitlements",
                ],
                environment: ["PATH": "/usr/bin:/bin"]
            ),
            timeout: .seconds(30)
        )
        guard result.termination == .exited(0) else { throw TestFailure("bundle-app: \(result.errorText)") }
    }
}
