import BerthSystem
import Foundation
import Testing

@testable import SimulatedDevice

/// The process of a booted device, when things go wrong around it.
@Suite(.timeLimit(.minutes(5)))
struct SupervisorTests {
    private static let app = "com.example.app"

    private func supervisor(_ simulator: SimulatorFixture, _ udid: String) async throws -> Int32 {
        let process = try await simulator.information(udid)["supervisor"] as? Int
        return try #require(process.map { Int32($0) })
    }

    @Test("Killing a supervisor ends its apps, reads as Shutdown, and the device boots again with its data")
    func killedSupervisor() async throws {
        let simulator = try SimulatorFixture()
        let udid = try await simulator.bootedDevice()
        try await simulator.install(simulator.bundle(), on: udid)
        let data = try await simulator.dataContainer(Self.app, on: udid)
        let note = "\(data)/Documents/child"
        // The child is in a session of its own, out of the app's group.
        let script = "setsid /bin/sleep 100 & echo $! > Documents/.child; mv Documents/.child Documents/child; wait"
        let app = try await simulator.launch(Self.app, "-c", script, on: udid)
        try await SimulatorFixture.until("the child is known") { FileManager.default.fileExists(atPath: note) }
        let text = try String(contentsOfFile: note, encoding: .utf8).trimmingCharacters(in: .newlines)
        let child = try #require(Int32(text))
        let boot = try await simulator.information(udid)["bootID"] as? String
        kill(try await supervisor(simulator, udid), SIGKILL)
        try await SimulatorFixture.until("the app has ended") { !SimulatorFixture.isRunning(app) }
        #expect(try await simulator.simctl("list", "devices").output.contains("(\(udid)) (Shutdown)"))
        try await SimulatorFixture.until("the child has ended") { !SimulatorFixture.isRunning(child) }
        #expect(try await simulator.simctl("launch", udid, Self.app).exit == 149)
        #expect(try await simulator.simctl("boot", udid).exit == 0)
        let information = try await simulator.information(udid)
        #expect(information["state"] as? String == "Booted")
        #expect(information["bootID"] as? String != boot)
        #expect(information["lockState"] as? String == "unlocked")
        #expect(try await simulator.dataContainer(Self.app, on: udid) == data)
    }

    @Test("Shutting down ends the apps, also one that ignores the request and one that left its group")
    func shutdown() async throws {
        let simulator = try SimulatorFixture()
        let udid = try await simulator.bootedDevice()
        try await simulator.install(simulator.bundle(), on: udid)
        let note = "\(try await simulator.dataContainer(Self.app, on: udid))/Documents/child"
        let script = """
            trap '' TERM; setsid /bin/sleep 100 & echo $! > Documents/.child; mv Documents/.child Documents/child
            while :; do /bin/sleep 0.1; done
            """
        let app = try await simulator.launch(Self.app, "-c", script, on: udid)
        try await SimulatorFixture.until("the child is known") { FileManager.default.fileExists(atPath: note) }
        let text = try String(contentsOfFile: note, encoding: .utf8).trimmingCharacters(in: .newlines)
        let child = try #require(Int32(text))
        let process = try await supervisor(simulator, udid)
        #expect(try await simulator.simctl("shutdown", udid).exit == 0)
        #expect(!SimulatorFixture.isRunning(app))
        #expect(!SimulatorFixture.isRunning(child))
        try await SimulatorFixture.until("the supervisor has ended") { !SimulatorFixture.isRunning(process) }
        #expect(try await simulator.information(udid)["bootID"] == nil)
    }

    @Test("A device shuts down when the folder that it ends with is gone")
    func endsWithFolder() async throws {
        let simulator = try SimulatorFixture()
        let companion = try TemporaryFolder()
        let udid = try await simulator.simctl("create", "phone", "Linux Phone").line
        let boot = try await simulator.simctl("boot", udid, adding: ["BERTH_SIM_END_WITH": companion.path])
        #expect(boot.exit == 0)
        let process = try await supervisor(simulator, udid)
        try FileManager.default.removeItem(atPath: companion.path)
        try await SimulatorFixture.until("the supervisor has ended") { !SimulatorFixture.isRunning(process) }
        #expect(try await simulator.simctl("list", "devices").output.contains("(\(udid)) (Shutdown)"))
    }

    @Test("Two devices side by side have apps, boots and states of their own")
    func twoDevices() async throws {
        let simulator = try SimulatorFixture()
        let first = try await simulator.bootedDevice("first")
        let second = try await simulator.bootedDevice("second")
        let app = try simulator.bundle(program: "/bin/sleep")
        try await simulator.install(app, on: first)
        #expect(try await simulator.simctl("launch", second, Self.app).exit == 4)
        try await simulator.install(app, on: second)
        let one = try await simulator.launch(Self.app, "100", on: first)
        let two = try await simulator.launch(Self.app, "100", on: second)
        #expect(try await simulator.dataContainer(Self.app, on: first).contains(first))
        #expect(try await simulator.simctl("shutdown", first).exit == 0)
        #expect(!SimulatorFixture.isRunning(one) && SimulatorFixture.isRunning(two))
        #expect(try await simulator.simctl("list", "devices").output.contains("(\(second)) (Booted)"))
    }

    @Test("A clone has the apps, the data and the keychain of its source, and goes its own way")
    func clone() async throws {
        let simulator = try SimulatorFixture()
        let source = try await simulator.bootedDevice("source")
        try await simulator.install(simulator.bundle(), on: source)
        let data = try await simulator.dataContainer(Self.app, on: source)
        try Data("kept".utf8).write(to: URL(fileURLWithPath: "\(data)/Documents/note"))
        #expect(try await simulator.simctl("shutdown", source).exit == 0)
        let clone = try await simulator.simctl("clone", source, "copy").line
        #expect(clone != source)
        #expect(try await simulator.simctl("boot", clone).exit == 0)
        let copied = try await simulator.dataContainer(Self.app, on: clone)
        #expect(copied.contains(clone))
        #expect(FileManager.default.contents(atPath: "\(copied)/Documents/note") == Data("kept".utf8))
        #expect(
            FileManager.default.fileExists(
                atPath: "\(simulator.set)/\(clone)/data/Library/Keychains/keychain-2-debug.db"
            )
        )
        #expect(try await simulator.simctl("delete", clone).exit == 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: simulator.set) == [source])
    }

    @Test("Of many boots at once one boots the device, and the first runtime is made once")
    func concurrentBoots() async throws {
        let simulator = try SimulatorFixture()
        let udids = try await withThrowingTaskGroup(of: String.self) { group in
            for number in 0..<4 {
                group.addTask { try await simulator.simctl("create", "phone-\(number)", "Linux Phone").line }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(Set(udids).count == 4)
        let runtimes = try FileManager.default.contentsOfDirectory(atPath: "\(simulator.folder.path)/runtimes")
        #expect(runtimes == ["iOS 18.0.simruntime"])
        let exits = try await withThrowingTaskGroup(of: Int32.self) { group in
            for _ in 0..<4 { group.addTask { try await simulator.simctl("boot", udids[0]).exit } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(exits.sorted() == [0, 149, 149, 149])
    }

    @Test("A process that is no app of the device is refused by its keychain")
    func stranger() async throws {
        let simulator = try SimulatorFixture()
        let udid = try await simulator.bootedDevice()
        let socket = DeviceFolder(path: "\(simulator.set)/\(udid)").keychainSocket
        let reply = try await Threads.run(name: "stranger") { () -> [UInt8]? in
            let connection = try SocketConnection.connect(unixPath: socket)
            let call: [String: Any] = ["version": 1, "operation": "copy", "query": ["class": "genp"]]
            let message = try PropertyListSerialization.data(fromPropertyList: call, format: .binary, options: 0)
            try connection.writeMessage(Array(message))
            return try connection.readMessage(limit: 1 << 20)
        }
        let list = try PropertyListSerialization.propertyList(
            from: Data(try #require(reply)),
            options: [],
            format: nil
        )
        let answer = try #require(list as? [String: Any])
        #expect(answer["status"] as? Int == -25291)
        #expect((answer["notice"] as? String)?.contains("is no app of this device") == true)
    }
}
