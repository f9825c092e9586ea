import BerthSystem
import Foundation

/// A real ssh-agent for one test; it ends with this object at the latest.
package final class TestSSHAgent: Sendable {
    /// Path of its socket.
    package let socket: String
    private let process: ChildProcess

    /// Starts one in a folder.
    package init(folder: String) async throws {
        let socket = folder + "/agent"
        self.socket = socket
        process = try ChildProcess.spawn(
            ProcessSpecification(executable: "/usr/bin/ssh-agent", arguments: ["-D", "-a", socket])
        )
        try await eventually("the agent listens") { FileManager.default.fileExists(atPath: socket) }
    }

    deinit {
        if process.termination == nil { process.signalGroup(SIGTERM) }
    }

    /// Runs ssh-add with these arguments, such as a key's file.
    package func add(_ arguments: String...) async throws {
        let result = try await CommandRunner.run(
            ProcessSpecification(
                executable: "/usr/bin/ssh-add",
                arguments: ["-q"] + arguments,
                environment: ["SSH_AUTH_SOCK": socket]
            ),
            timeout: .seconds(30),
            outputLimit: 4096
        )
        guard result.termination == .exited(0) else {
            throw TestSSHServer.Failure(description: "ssh-add: \(result.errorText)")
        }
    }

    package func stop() async {
        process.signalGroup(SIGTERM)
        _ = await process.wait()
    }
}
