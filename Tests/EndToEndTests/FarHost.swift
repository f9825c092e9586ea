import BerthSystem
import BerthTestSupport
import Foundation

/// Another host of a test's farm, with an sshd and one slot of its own.
struct FarHost {
    let name: String
    let ssh: TestSSHServer
    private let agent: ChildProcess
    private let place: String

    /// Starts sshd and agent; the host is not enrolled yet.
    init(_ name: String, of farm: TestFarm, extraConfiguration: [String] = []) async throws {
        self.name = name
        let place = "\(farm.root)/\(name)"
        self.place = place
        for folder in ["ssh", "sockets", "cache"] { try DurableFile.makeFolder("\(place)/\(folder)") }
        let program = "\(TestFarm.products)/berth-agent"
        ssh = try await TestSSHServer(
            directory: "\(place)/ssh",
            forcedCommand: "\(program) attach --sockets \(place)/sockets --cache \(place)/cache",
            extraConfiguration: extraConfiguration
        )
        try await ssh.start()
        agent = try ChildProcess.spawn(
            ProcessSpecification(
                executable: program,
                arguments: [
                    "serve", "--slot", "\(name)-1", "--state", "\(place)/slot", "--sockets", "\(place)/sockets",
                    "--cache", "\(place)/cache", "--xcrun", "\(farm.root)/tools/xcrun",
                ],
                environment: TestFarm.environment.merging([
                    "BERTH_SIM_RUNTIMES": "\(farm.root)/runtimes", "BERTH_SIM_END_WITH": farm.root,
                ]) { $1 },
                standardError: .appendingFile("\(place)/agent.log")
            )
        )
    }

    /// Enrols the host by the command line.
    func enrol(in farm: TestFarm, _ options: [String]) async throws {
        try await farm.berth(
            [
                "host", "add", name, "--address", "127.0.0.1:\(ssh.port)", "--user", ssh.user, "--host-key",
                try ssh.hostKeyLine.trimmingCharacters(in: .newlines),
            ] + options
        )
    }

    func stop() async {
        await agent.end(grace: .seconds(5))
        await ssh.stop()
    }
}
