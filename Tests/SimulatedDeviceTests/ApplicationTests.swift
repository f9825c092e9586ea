import Foundation
import Testing

@testable import SimulatedDevice

/// Apps on a booted device: containers, environment, life and end.
@Suite(.timeLimit(.minutes(5)))
struct ApplicationTests {
    private static let app = "com.example.app"
    private let simulator: SimulatorFixture

    init() throws {
        simulator = try SimulatorFixture()
    }

    private func container(_ udid: String, _ kind: String) async throws -> String {
        try await simulator.simctl("get_app_container", udid, Self.app, kind).line
    }

    @Test("An update has a new bundle container and the old data; uninstalling removes both; erasing removes all")
    func containers() async throws {
        let udid = try await simulator.bootedDevice()
        try await simulator.install(simulator.bundle("One", version: "1"), on: udid)
        let (oldBundle, oldData) = (try await container(udid, "app"), try await container(udid, "data"))
        try Data("kept".utf8).write(to: URL(fileURLWithPath: "\(oldData)/Documents/note"))
        try await simulator.install(simulator.bundle("Two", version: "2"), on: udid)
        let (newBundle, newData) = (try await container(udid, "app"), try await container(udid, "data"))
        #expect(newBundle != oldBundle)
        #expect(newBundle.hasSuffix("/Two.app"))
        #expect(newData == oldData)
        #expect(!FileManager.default.fileExists(atPath: oldBundle))
        #expect(FileManager.default.contents(atPath: "\(newData)/Documents/note") == Data("kept".utf8))
        #expect(try await simulator.simctl("listapps", udid).output.contains("CFBundleVersion = 2;"))
        #expect(try await simulator.simctl("uninstall", udid, Self.app).exit == 0)
        #expect(!FileManager.default.fileExists(atPath: newBundle))
        #expect(!FileManager.default.fileExists(atPath: newData))
        #expect(try await simulator.simctl("listapps", udid).output == "{\n}\n")
        try await simulator.install(simulator.bundle("Three"), on: udid)
        #expect(try await container(udid, "data") != newData)
        #expect(try await simulator.simctl("shutdown", udid).exit == 0)
        #expect(try await simulator.simctl("erase", udid).exit == 0)
        #expect(try await simulator.simctl("boot", udid).exit == 0)
        #expect(try await simulator.simctl("listapps", udid).output == "{\n}\n")
    }

    @Test("An app starts in its data container with its arguments, its streams and an environment of its own")
    func environment() async throws {
        let udid = try await simulator.bootedDevice()
        try await simulator.install(simulator.bundle(), on: udid)
        let data = try await container(udid, "data")
        let output = "\(simulator.folder.path)/out"
        let launch = try await simulator.simctl(
            "launch",
            "--stdout=\(output)",
            "--stderr=\(output).err",
            udid,
            Self.app,
            "-c",
            "pwd; echo \"$0 $1\"; /usr/bin/env; echo to-error >&2",
            "-first",
            "--second=2",
            adding: ["SIMCTL_CHILD_RUN": "nonce", "LEAK": "leaked"]
        )
        #expect(launch.output.hasPrefix("\(Self.app): "))
        let process = try #require(launch.line.split(separator: " ").last.flatMap { Int32($0) })
        try await SimulatorFixture.until("the app has ended") { !SimulatorFixture.isRunning(process) }
        let text = try String(contentsOfFile: output, encoding: .utf8)
        let lines = Set(text.split(separator: "\n").map(String.init))
        #expect(lines.isSuperset(of: [data, "-first --second=2", "RUN=nonce", "HOME=\(data)", "TMPDIR=\(data)/tmp/"]))
        #expect(lines.contains("CFFIXED_USER_HOME=\(data)"))
        #expect(
            lines.contains(
                "LD_LIBRARY_PATH=\(simulator.folder.path)/runtimes/iOS 18.0.simruntime/RuntimeRoot/usr/lib/swift"
            )
        )
        #expect(!text.contains("LEAK") && !text.contains("SIMCTL_CHILD_") && !text.contains("BERTH_SIM_END_WITH"))
        #expect(try String(contentsOfFile: "\(output).err", encoding: .utf8) == "to-error\n")
        #expect(
            FileManager.default.fileExists(
                atPath:
                    "\(simulator.folder.path)/runtimes/iOS 18.0.simruntime/RuntimeRoot/usr/lib/swift/libswiftCore.so"
            )
        )
    }

    @Test("A launch of a running app answers with the running one, unless it is to be terminated first")
    func relaunch() async throws {
        let udid = try await simulator.bootedDevice()
        try await simulator.install(simulator.bundle(program: "/bin/sleep"), on: udid)
        let first = try await simulator.launch(Self.app, "100", on: udid)
        #expect(try await simulator.launch(Self.app, "100", on: udid) == first)
        let answer = try await simulator.simctl("launch", "--terminate-running-process", udid, Self.app, "100")
        let second = try #require(answer.line.split(separator: " ").last.flatMap { Int32($0) })
        #expect(second != first)
        #expect(!SimulatorFixture.isRunning(first) && SimulatorFixture.isRunning(second))
        #expect(try await simulator.simctl("terminate", udid, Self.app).exit == 0)
        #expect(!SimulatorFixture.isRunning(second))
    }

    @Test("The console shows the app's output and ends with the app")
    func console() async throws {
        let udid = try await simulator.bootedDevice()
        try await simulator.install(simulator.bundle(), on: udid)
        let answer = try await simulator.simctl(
            "launch",
            "--console",
            udid,
            Self.app,
            "-c",
            "echo one; echo two >&2; exit 3"
        )
        #expect(answer.exit == 0)
        #expect(answer.output.hasPrefix("\(Self.app): ") && answer.output.hasSuffix("\none\n"))
        #expect(answer.error == "two\n")
    }

    @Test("An installation right after a launch waits for the app's status file, then ends the app")
    func installAfterLaunch() async throws {
        let udid = try await simulator.bootedDevice()
        try await simulator.install(simulator.bundle("One"), on: udid)
        let data = try await container(udid, "data")
        // A status file of an earlier launch is no news.
        try FileManager.default.createDirectory(
            atPath: "\(data)/Documents/berth",
            withIntermediateDirectories: true
        )
        try Data("{}".utf8).write(to: URL(fileURLWithPath: "\(data)/Documents/berth/1-seed.json"))
        let gate = "\(simulator.folder.path)/gate"
        let script = """
            while [ ! -e '\(gate)' ]; do /bin/sleep 0.01; done
            cd Documents/berth; echo '{}' > .partial; mv .partial 2-seed.json; exec /bin/sleep 100
            """
        let process = try await simulator.launch(Self.app, "-c", script, on: udid)
        let next = try simulator.bundle("Two")
        async let installation = simulator.simctl("install", udid, next)
        // The copy lies beside the installed one, and the installation waits.
        let bundles = "\(simulator.set)/\(udid)/data/Containers/Bundle/Application"
        try await SimulatorFixture.until("the new bundle is copied") {
            let names = try FileManager.default.contentsOfDirectory(atPath: bundles)
            return names.contains { FileManager.default.fileExists(atPath: "\(bundles)/\($0)/Two.app/Info.plist") }
        }
        #expect(try await container(udid, "app").hasSuffix("/One.app"))
        #expect(SimulatorFixture.isRunning(process))
        try Data().write(to: URL(fileURLWithPath: gate))
        #expect(try await installation.exit == 0)
        #expect(!SimulatorFixture.isRunning(process))
        #expect(FileManager.default.fileExists(atPath: "\(data)/Documents/berth/2-seed.json"))
        #expect(try await container(udid, "app").hasSuffix("/Two.app"))
    }

    @Test("What an app leaves running in its group ends with the app")
    func descendants() async throws {
        let udid = try await simulator.bootedDevice()
        try await simulator.install(simulator.bundle(), on: udid)
        let data = try await container(udid, "data")
        let note = "\(data)/Documents/child"
        _ = try await simulator.launch(
            Self.app,
            "-c",
            "/bin/sleep 100 & echo $! > Documents/.child; mv Documents/.child Documents/child; exit 0",
            on: udid
        )
        try await SimulatorFixture.until("the child is known") { FileManager.default.fileExists(atPath: note) }
        let text = try String(contentsOfFile: note, encoding: .utf8).trimmingCharacters(in: .newlines)
        let child = try #require(Int32(text))
        try await SimulatorFixture.until("the child has ended") { !SimulatorFixture.isRunning(child) }
    }
}
