import BerthSystem
import Foundation
import Testing

@testable import SimulatedDevice

/// The texts and exit statuses that callers of Apple's simctl rely on.
@Suite(.timeLimit(.minutes(5)))
struct SimctlTextTests {
    private let simulator: SimulatorFixture

    init() throws {
        simulator = try SimulatorFixture()
    }

    private static let header =
        "An error was encountered processing the command (domain=com.apple.CoreSimulator.SimError, code=405):\n"

    @Test("Errors without a device: unknown verb, missing set, unknown device, none booted")
    func errorsWithoutDevice() async throws {
        let unknown = try await simulator.simctl("nosuchsub")
        #expect(unknown.exit == 1)
        #expect(unknown.error == "Unrecognized subcommand: nosuchsub\n")
        #expect(unknown.output.hasPrefix("usage: simctl [--set <path>] "))
        let set = try await simulator.berthSim(["simctl", "--set", "/nowhere/set", "list"])
        #expect(set.exit == 1)
        #expect(set.error == "Provided set path does not exist: /nowhere/set\n")
        let device = try await simulator.simctl("boot", "00000000-0000-0000-0000-000000000000")
        #expect(device.exit == 148)
        #expect(device.error == "Invalid device: 00000000-0000-0000-0000-000000000000\n")
        let booted = try await simulator.simctl("launch", "booted", "com.example.app")
        #expect(booted.exit == 148)
        #expect(booted.error == "No devices are booted.\n")
    }

    @Test("Errors of the wrong state, in both states")
    func wrongState() async throws {
        let udid = try await simulator.simctl("create", "phone", "Linux Phone").line
        let app = try simulator.bundle()
        let shutdown = try await simulator.simctl("shutdown", udid)
        #expect(shutdown.exit == 149)
        #expect(shutdown.error == Self.header + "Unable to shutdown device in current state: Shutdown\n")
        for arguments in [["install", udid, app], ["listapps", udid], ["launch", udid, "com.example.app"]] {
            let answer = try await simulator.berthSim(["simctl", "--set", simulator.set] + arguments)
            #expect(answer.exit == 149)
            #expect(answer.error == Self.header + "Unable to lookup in current state: Shutdown\n")
        }
        #expect(try await simulator.simctl("boot", udid).exit == 0)
        for (arguments, sentence) in [
            (["boot", udid], "Unable to boot device in current state: Booted\n"),
            (["clone", udid, "copy"], "Unable to clone device in current state: Booted\n"),
            (["erase", udid], "Unable to erase contents and settings in current state: Booted\n"),
        ] {
            let answer = try await simulator.berthSim(["simctl", "--set", simulator.set] + arguments)
            #expect(answer.exit == 149)
            #expect(answer.error == Self.header + sentence)
            #expect(answer.output.isEmpty)
        }
    }

    @Test("Errors of apps: not installed, nothing to terminate, no record, no container")
    func applications() async throws {
        let udid = try await simulator.bootedDevice()
        let launch = try await simulator.simctl("launch", udid, "com.example.nope")
        #expect(launch.exit == 4)
        #expect(
            launch.error == """
                An error was encountered processing the command (domain=FBSOpenApplicationServiceErrorDomain, code=4):
                Simulator device failed to launch com.example.nope.
                Underlying error (domain=FBSOpenApplicationServiceErrorDomain, code=4):
                \tThe request to open "com.example.nope" failed.

                """
        )
        let terminate = try await simulator.simctl("terminate", udid, "com.example.app")
        #expect(terminate.exit == 3)
        #expect(
            terminate.error == """
                An error was encountered processing the command (domain=NSPOSIXErrorDomain, code=3):
                Simulator device failed to terminate com.example.app.
                found nothing to terminate
                Underlying error (domain=NSPOSIXErrorDomain, code=3):
                \tThe request to terminate "com.example.app" failed. found nothing to terminate
                \tfound nothing to terminate

                """
        )
        let information = try await simulator.simctl("appinfo", udid, "com.example.none")
        #expect(information.exit == 3)
        #expect(information.error.contains("\tApplication not found\n"))
        #expect(try await simulator.simctl("get_app_container", udid, "com.example.none").exit == 2)
    }

    @Test("Errors of installation name what is wrong with the bundle")
    func installation() async throws {
        let udid = try await simulator.bootedDevice()
        let missing = try await simulator.simctl("install", udid, "/tmp/definitely-not-here.app")
        #expect(missing.exit == 2)
        #expect(
            missing.error == """
                An error was encountered processing the command (domain=NSPOSIXErrorDomain, code=2):
                Simulator device failed to install the application.
                Unhandled error domain NSPOSIXErrorDomain, code 2
                Underlying error (domain=NSPOSIXErrorDomain, code=2):
                \tlstat of /tmp/definitely-not-here.app failed: No such file or directory

                """
        )
        let nameless = try simulator.bundle("Nameless", information: ["CFBundleExecutable": "Nameless"])
        let identifier = try await simulator.simctl("install", udid, nameless)
        #expect(identifier.exit == 13)
        #expect(
            identifier.error == """
                An error was encountered processing the command (domain=IXErrorDomain, code=13):
                Simulator device failed to install the application.
                Missing bundle ID.
                Underlying error (domain=IXErrorDomain, code=13):
                \tFailed to get bundle ID from \(nameless)
                \tMissing bundle ID.

                """
        )
        let damaged = try simulator.bundle("Damaged")
        try Data("not a plist".utf8).write(to: URL(fileURLWithPath: "\(damaged)/Info.plist"))
        let plist = try await simulator.simctl("install", udid, damaged)
        #expect(plist.exit == 1)
        #expect(plist.error.contains("Failed to load Info.plist from bundle at path \(damaged)"))
        let foreign = try simulator.bundle("Foreign")
        try Data([0xCF, 0xFA, 0xED, 0xFE] + [UInt8](repeating: 0, count: 60))
            .write(to: URL(fileURLWithPath: "\(foreign)/Foreign"))
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: "\(foreign)/Foreign")
        let platform = try await simulator.simctl("install", udid, foreign)
        #expect(platform.exit == 4)
        #expect(platform.error.contains("(domain=IXUserPresentableErrorDomain, code=4):\nApp installation failed: "))
        #expect(platform.error.contains("combination that is runnable on this device."))
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: "\(foreign)/Foreign")
        let mode = try await simulator.simctl("install", udid, foreign)
        #expect(mode.exit == 1)
        #expect(mode.error.contains("\(foreign)/Foreign is not executable"))
        // None of them left a trace.
        let bundles = "\(simulator.set)/\(udid)/data/Containers/Bundle/Application"
        #expect((try? FileManager.default.contentsOfDirectory(atPath: bundles)) ?? [] == [])
    }

    @Test("create names its runtime on standard error, and prints the UDID alone on standard output")
    func create() async throws {
        let answer = try await simulator.simctl("create", "phone", "org.berth.SimDeviceType.Linux-Phone")
        #expect(answer.error == "No runtime specified, using 'iOS 18.0 (org.berth.SimRuntime.iOS-18-0)'\n")
        #expect(UUID(uuidString: answer.line) != nil)
        let named = try await simulator.simctl("create", "b", "Linux Phone", "org.berth.SimRuntime.iOS-18-0")
        #expect(named.error.isEmpty)
        #expect(UUID(uuidString: named.line) != nil)
        #expect(try await simulator.simctl("create", "b", "iPhone 17").exit != 0)
    }

    @Test("list shows devices with their states, as text and as JSON, and finds one by its UDID")
    func list() async throws {
        let first = try await simulator.bootedDevice("first")
        let second = try await simulator.simctl("create", "second", "Linux Phone").line
        let text = try await simulator.simctl("list", "devices")
        #expect(
            text.output
                == "== Devices ==\n-- iOS 18.0 --\n    first (\(first)) (Booted) \n    second (\(second)) (Shutdown) \n"
        )
        let answer = try await simulator.simctl("list", "-j")
        let json = try JSONSerialization.jsonObject(with: Data(answer.output.utf8)) as? [String: Any]
        let runtimes = try #require(json?["runtimes"] as? [[String: Any]])
        #expect(runtimes.count == 1)
        #expect(runtimes.first?["buildversion"] as? String == "22A1-berth")
        #expect(runtimes.first?["isAvailable"] as? Bool == true)
        let groups = try #require(json?["devices"] as? [String: [[String: Any]]])
        let devices = try #require(groups["org.berth.SimRuntime.iOS-18-0"])
        #expect(devices.map { $0["state"] as? String } == ["Booted", "Shutdown"])
        #expect(devices.first?["dataPath"] as? String == "\(simulator.set)/\(first)/data")
        let one = try await simulator.simctl("list", "-j", "devices", second)
        #expect(one.output.contains(second) && !one.output.contains(first))
    }

    @Test("bootstatus boots, ends with Finished, and says when there is nothing to do")
    func bootstatus() async throws {
        let udid = try await simulator.simctl("create", "phone", "Linux Phone").line
        let boot = try await simulator.simctl("bootstatus", udid, "-b")
        #expect(boot.exit == 0)
        #expect(boot.output.hasPrefix("Monitoring boot status for phone (\(udid)).\n["))
        #expect(boot.output.contains("+0000] Status=2, isTerminal=NO, Elapsed=00:00.\n\tWaiting on Data Migration\n"))
        // How long it took is the machine's affair.
        #expect(boot.output.contains(/Status=4294967295, isTerminal=YES, Elapsed=[0-9]{2}:[0-9]{2}\.\n\tFinished\n\n$/))
        let again = try await simulator.simctl("bootstatus", udid, "-b")
        #expect(
            again.output
                == "Monitoring boot status for phone (\(udid)).\nDevice already booted, nothing to do.\n\n"
        )
    }

    @Test("The tools say under each name what they are")
    func tools() async throws {
        let version = try await simulator.berthSim(["--version"], as: "xcrun")
        #expect(version.line.contains("berth-sim") && version.line.contains("platform linux-simulated"))
        let unknown = try await simulator.berthSim(["xcrun", "swiftc"])
        #expect(unknown.exit == 72)
        #expect(unknown.error == "xcrun: error: unable to find utility \"swiftc\", not a developer tool or in PATH\n")
        let environment = try await simulator.toolEnvironment()
        for command in [
            "xcrun simctl --set \(simulator.set) list devices", "simctl --set \(simulator.set) list devices",
        ] {
            let answer = try await simulator.run(
                .init(executable: "/bin/sh", arguments: ["-c", command], environment: environment)
            )
            #expect(answer.exit == 0)
            #expect(answer.output.hasPrefix("== Devices ==\n"))
        }
    }

    @Test("codesign prints a bundle's entitlements as Apple's does, and nothing for a bundle without")
    func codesign() async throws {
        let app = try simulator.bundle()
        let without = try await simulator.berthSim(["codesign", "-d", "--entitlements", ":-", app])
        #expect(without.exit == 0)
        #expect(without.output.isEmpty)
        let entitlements: [String: Any] = ["get-task-allow": true, "keychain-access-groups": ["T.<a>"]]
        try PropertyListSerialization.data(fromPropertyList: entitlements, format: .xml, options: 0)
            .write(to: URL(fileURLWithPath: "\(app)/archived-expanded-entitlements.xcent"))
        let with = try await simulator.berthSim(["-d", "--entitlements", ":-", app], as: "codesign")
        #expect(with.error.hasPrefix("Executable=\(app)/App\n"))
        #expect(
            with.output.hasSuffix(
                "<dict><key>get-task-allow</key><true/><key>keychain-access-groups</key><array>"
                    + "<string>T.&lt;a&gt;</string></array></dict></plist>"
            )
        )
        let missing = try await simulator.berthSim(["codesign", "-d", "/nowhere.app"])
        #expect(missing.exit == 1)
        #expect(missing.error == "/nowhere.app: No such file or directory\n")
    }
}
