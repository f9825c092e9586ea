import BerthSystem
import BerthTestSupport
import Foundation

/// GNU parallel on two sshd of its own, each over one shared connection.
enum GNUParallel {
    /// Jobs a second that run `true`.
    static func rate(jobs: Int, _ options: BenchOptions) async throws -> Double {
        guard access("/usr/bin/parallel", X_OK) == 0 else {
            throw BenchFailure("GNU parallel is not installed: apt-get install parallel")
        }
        let folder = "\(options.folder)/parallel-\(Hex.encode(RandomBytes.make(3)))"
        try FileManager.default.createDirectory(atPath: "\(folder)/home", withIntermediateDirectories: true)
        var servers: [TestSSHServer] = []
        do {
            var configuration = ""
            for number in 1...2 {
                let directory = "\(folder)/sshd-\(number)"
                try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
                let server = try await TestSSHServer(directory: directory, forcedCommand: "")
                // Its key may do anything: the job's command comes from parallel.
                try FileManager.default.removeItem(atPath: "\(directory)/authorized_keys")
                try FileManager.default.copyItem(
                    atPath: "\(server.identityFile).pub",
                    toPath: "\(directory)/authorized_keys"
                )
                try await server.start()
                servers.append(server)
                let known = "[127.0.0.1]:\(server.port) \(try server.hostKeyLine)"
                try Data(known.utf8).write(to: URL(fileURLWithPath: "\(directory)/known_hosts"))
                configuration += """
                    Host bench\(number)
                    HostName 127.0.0.1
                    Port \(server.port)
                    User \(server.user)
                    IdentityFile \(server.identityFile)
                    UserKnownHostsFile \(directory)/known_hosts
                    ControlMaster auto
                    ControlPath \(directory)/c
                    ControlPersist 20

                    """
            }
            try Data(configuration.utf8).write(to: URL(fileURLWithPath: "\(folder)/ssh_config"))
            // The shared connections stand before the time counts.
            for number in 1...2 {
                _ = try await run("ssh -F \(folder)/ssh_config bench\(number) true", folder)
            }
            let seconds = try await run(
                "seq \(jobs) | parallel --will-cite --ssh 'ssh -F \(folder)/ssh_config' -S 4/bench1,4/bench2 true",
                folder
            )
            for number in 1...2 {
                _ = try await run("ssh -F \(folder)/ssh_config -O exit bench\(number)", folder)
            }
            for server in servers { await server.stop() }
            return Double(jobs) / seconds
        } catch {
            for server in servers { await server.stop() }
            throw error
        }
    }

    /// - Returns: how long it took, in seconds.
    private static func run(_ command: String, _ folder: String) async throws -> Double {
        let result = try await CommandRunner.run(
            ProcessSpecification(
                executable: "/bin/sh",
                arguments: ["-c", command],
                environment: ["PATH": "/usr/bin:/bin", "HOME": "\(folder)/home", "LC_ALL": "C"],
                workingDirectory: folder
            ),
            timeout: .seconds(120)
        )
        guard result.termination == .exited(0) else {
            throw BenchFailure("\(command): \(result.termination), \(result.errorText.suffix(400))")
        }
        return result.duration.inSeconds
    }
}
