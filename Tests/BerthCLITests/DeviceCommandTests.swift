import BerthCore
import BerthTestSupport
import Foundation
import Synchronization
import Testing

@testable import berth

@Suite("Kept devices", .timeLimit(.minutes(2)))
struct DeviceCommandTests {
    private static let places = SlotPlaces(
        slot: "sim-1",
        machine: "elsewhere",
        user: "farm",
        agent: "/opt/berth agent/berth-agent",
        state: "/var/lib/berth/sim-1",
        xcrun: "/usr/bin/xcrun",
        lock: "/var/lib/berth/sim-1/devices/device.lock",
        deviceSet: "/var/lib/berth/sim-1/devices",
        environment: ["DEVELOPER_DIR": "/Applications/Xcode 26.app"]
    )

    private static func device(
        _ udid: String,
        stage: KeptDevice.Stage = .preserved,
        run: String = "r-1",
        attempt: String = "a-1",
        offlineSince: Int64? = nil
    ) -> DeviceView {
        DeviceView(
            device: KeptDevice(
                udid: udid,
                stage: stage,
                run: run,
                attempt: attempt,
                caseName: "update",
                bundle: "com.example.product",
                outcome: .failed,
                cause: OutcomeCause("verify-missing", "words"),
                since: 1_790_000_000_000,
                size: 1_400_000
            ),
            slot: "sim-1",
            host: "alpha",
            platform: .linuxSimulated,
            model: "Phone",
            places: places,
            offlineSince: offlineSince,
            release: nil
        )
    }

    private static let host = HostView(
        host: HostRecord(
            name: "alpha",
            hostName: "mac.example",
            port: 2222,
            user: "farm",
            identityFile: "/key",
            hostKey: "k"
        ),
        fingerprint: "f",
        state: .connected,
        problem: nil,
        clockSkew: 0,
        slots: [
            SlotView(
                name: "sim-1",
                host: "alpha",
                device: Sample.device,
                state: .held,
                attempt: nil,
                reason: OutcomeCause("manual-work", "eve works by hand"),
                kept: 2,
                places: places
            ),
            SlotView(name: "old", host: "alpha", device: Sample.device, state: .idle, attempt: nil),
        ]
    )

    /// A coordinator that knows three devices.
    private func peer(_ release: @escaping @Sendable (HTTPPeer.Request) throws -> HTTPPeer.Response) throws -> HTTPPeer
    {
        try HTTPPeer { request in
            switch request.path {
            case "/v1/devices":
                try Sample.answer([
                    Self.device("AB12", attempt: "a-1"), Self.device("AB34", attempt: "a-2"),
                    Self.device("CD56", stage: .held, run: "r-9", attempt: "a-9", offlineSince: 1_790_000_005_000),
                ])
            case "/v1/hosts": try Sample.answer([Self.host])
            default: try release(request)
            }
        }
    }

    @Test(
        "A device is found by UDID, prefix, attempt or run, and an unclear name is answered with what there is",
        arguments: [
            ("ab12", "AB12"), ("a-2", "AB34"), ("c", "CD56"), ("r-9", "CD56"), ("AB", nil), ("r-1", nil), ("x", nil),
        ]
    )
    func resolving(text: String, udid: String?) throws {
        let devices = [
            Self.device("AB12", attempt: "a-1"), Self.device("AB34", attempt: "a-2"),
            Self.device("CD56", run: "r-9", attempt: "a-9"),
            // The same slot under the name that it had before.
            Self.device("CD56", run: "r-9", attempt: "a-9", offlineSince: 5),
        ]
        do {
            let found = try DeviceReference.resolve(text, among: devices)
            #expect(found.device.udid == udid && found.offlineSince == nil)
        } catch let failure as CommandFailure {
            #expect(udid == nil && failure.status == .badInput)
            #expect(failure.message.contains("AB12 (a-1 of r-1 on sim-1), AB34"), "\(failure.message)")
        }
    }

    @Test("The list shows where each device comes from, and what is only remembered")
    func list() async throws {
        let peer = try peer { _ in try Sample.refusal(404, "unknown") }
        let cli = CLIFixture()
        #expect(await cli.run("device", "list", environment: ["BERTH_COORDINATOR": peer.address]) == .success)
        let lines = cli.output.split(separator: "\n").map(String.init)
        #expect(
            lines[1].split(separator: " ").prefix(9).joined(separator: " ")
                == "AB12 preserved sim-1 alpha r-1 a-1 update failed verify-missing"
        )
        #expect(lines[1].hasSuffix("1.4 MB"))
        #expect(cli.output.contains("CD56 as it was at 2026-09-21"), "\(cli.output)")
    }

    @Test("A release is followed to its end, and a refusal is told with its cause")
    func release() async throws {
        let looks = Mutex(0)
        let peer = try peer { request in
            func view(_ state: ReleaseView.State, _ cause: OutcomeCause? = nil) -> ReleaseView {
                ReleaseView(request: 4, udid: "CD56", slot: "sim-1", by: "eve", state: state, cause: cause)
            }
            if request.path == "/v1/devices/AB12/release" { return try Sample.refusal(409, "release-refused") }
            if request.method == "POST" { return try Sample.answer(view(.ordered), status: 202) }
            let number = looks.withLock {
                $0 += 1; return $0
            }
            return try Sample.answer(
                number < 3 ? view(.ordered) : view(.refused, OutcomeCause("not-clean", "2 items left"))
            )
        }
        let environment = ["BERTH_COORDINATOR": peer.address]
        let cli = CLIFixture()
        #expect(await cli.run("device", "release", "a-9", "--unclean", "seen", environment: environment) == .badInput)
        #expect(cli.errorOutput.contains("still kept by sim-1: not-clean: 2 items left"))
        #expect(
            peer.requests.contains { $0.method == "POST" && String(decoding: $0.body, as: UTF8.self).contains("seen") }
        )
        #expect(await cli.run("device", "release", "a-1", environment: environment) == .badInput)
        #expect(await cli.run("device", "release", "a-1", "--unclean", "x", environment: environment) == .usage)
        #expect(cli.errorOutput.contains("--unclean is for phones"))
    }

    @Test("What to type is right for the host that it is typed on")
    func commandLines() async throws {
        let peer = try peer { _ in try Sample.refusal(404, "unknown") }
        let environment = ["BERTH_COORDINATOR": peer.address]
        let cli = CLIFixture()
        #expect(await cli.run("device", "open", "a-1", environment: environment) == .success)
        for line in [
            "  ssh -t -p 2222 -- mac.example sudo -i -u farm\n",
            "  export DEVELOPER_DIR='/Applications/Xcode 26.app'\n",
            "  /usr/bin/xcrun simctl --set /var/lib/berth/sim-1/devices boot AB12\n",
            "  /usr/bin/xcrun simctl --set /var/lib/berth/sim-1/devices get_app_container AB12 com.example.product data\n",
        ] {
            #expect(cli.output.contains(line), "\(cli.output)")
        }
        #expect(await cli.run("device", "open", "a-1", "--here", environment: environment) == .badInput)
        #expect(cli.errorOutput.contains("does not lie on this machine"))

        let shell = CLIFixture()
        #expect(await shell.run("slot", "shell", "sim-1", "--print", environment: environment) == .success)
        let words = "sudo -u farm '\\''/opt/berth agent/berth-agent'\\'' shell --state /var/lib/berth/sim-1 --yield"
        #expect(shell.output == "ssh -t -p 2222 -- mac.example '\(words)'\n")
        let own = CLIFixture()
        _ = await own.run("slot", "shell", "sim-1", "--print", "--login", "farm", environment: environment)
        #expect(own.output.hasPrefix("ssh -t -p 2222 -l farm -- mac.example ") && !own.output.contains("sudo"))
        #expect(await own.run("slot", "shell", "old", "--print", environment: environment) == .refusedForNow)
    }

    @Test("A slot that takes no run says why in the list of hosts")
    func held() {
        let text = HostListCommand.text([Self.host])
        #expect(text.contains("held") && text.contains("manual-work: eve works by hand"))
    }
}
