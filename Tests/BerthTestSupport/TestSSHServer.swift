import BerthSystem
import Foundation
import Synchronization

/// A real sshd on a loopback port with its own keys, for one test; all of it lies in one folder.
///
/// It runs as the present user and lets that user in with one key, for one forced command.
package final class TestSSHServer: Sendable {
    /// Why the server is not there.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    /// Its files; the test removes it.
    package let directory: String
    package let port: UInt16
    /// The user whom the key lets in.
    package let user: String
    /// An ed25519 key that is let in.
    package let identityFile: String
    private let listener = Mutex<ChildProcess?>(nil)

    /// Makes keys and configuration; `start()` starts the server.
    /// - Parameters:
    ///   - directory: an existing folder for the server's files.
    ///   - forcedCommand: what every channel runs, by the user's shell.
    ///   - extraConfiguration: lines for sshd_config, before all others, which they override.
    /// - Throws: `Failure`, or `SystemError` when no port is free.
    package init(directory: String, forcedCommand: String, extraConfiguration: [String] = []) async throws {
        self.directory = directory
        port = try Self.freePort()
        guard let entry = getpwuid(getuid()) else { throw Failure(description: "this user has no name") }
        user = String(cString: entry.pointee.pw_name)
        identityFile = directory + "/client_key"
        try await Self.makeKey(directory + "/host_key")
        try await Self.makeKey(identityFile)
        try FileManager.default.createDirectory(atPath: directory + "/home", withIntermediateDirectories: true)
        if getuid() == 0 {
            try FileManager.default.createDirectory(atPath: "/run/sshd", withIntermediateDirectories: true)
        }
        let command = forcedCommand.replacingOccurrences(of: "\"", with: "\\\"")
        let publicKey = try Self.text(of: identityFile + ".pub")
        try Self.write("restrict,command=\"\(command)\" \(publicKey)", to: directory + "/authorized_keys")
        // Of this one option sshd takes the last line and not the first.
        let setsStartups = extraConfiguration.contains { $0.hasPrefix("MaxStartups") }
        let configuration =
            extraConfiguration + (setsStartups ? [] : ["MaxStartups 200"]) + [
                "ListenAddress 127.0.0.1",
                "Port \(port)",
                "HostKey \(directory)/host_key",
                "AuthorizedKeysFile \(directory)/authorized_keys",
                "StrictModes no",
                "UsePAM no",
                "PasswordAuthentication no",
                "KbdInteractiveAuthentication no",
                "PermitRootLogin prohibit-password",
                "PidFile none",
                "SetEnv HOME=\(directory)/home",
                "LogLevel VERBOSE",
            ]
        try Self.write(configuration.joined(separator: "\n") + "\n", to: directory + "/sshd_config")
    }

    /// A test that fails before `stop` leaves no server behind.
    deinit {
        listener.withLock { listener in
            if let listener, listener.termination == nil { kill(listener.pid, SIGKILL) }
        }
    }

    /// The server's public key, as in a `.pub` file.
    package var hostKeyLine: String {
        get throws { try Self.text(of: directory + "/host_key.pub") }
    }

    /// What sshd has written so far.
    package var log: String { (try? Self.text(of: directory + "/log")) ?? "" }

    /// Starts the server, or starts it again, and returns when it listens.
    package func start() async throws {
        let before = log.count
        let process = try ChildProcess.spawn(
            ProcessSpecification(
                executable: "/usr/sbin/sshd",
                arguments: ["-D", "-e", "-f", directory + "/sshd_config"],
                environment: ["PATH": "/usr/bin:/bin"],
                standardError: .appendingFile(directory + "/log")
            )
        )
        listener.withLock { $0 = process }
        try await eventually("sshd listens") {
            if let termination = process.termination {
                throw Failure(description: "sshd ended with \(termination): \(log)")
            }
            return log.dropFirst(before).contains("Server listening on")
        }
    }

    /// Ends the listener and all its connections.
    package func stop() async {
        let connections = connectionProcesses
        await killListener()
        for process in connections { kill(process, SIGKILL) }
    }

    /// Kills the listener only: connections live on, new ones are refused.
    package func killListener() async {
        let process = listener.withLock { listener in
            defer { listener = nil }
            return listener
        }
        guard let process else { return }
        kill(process.pid, SIGKILL)
        _ = await process.wait()
    }

    /// The processes that serve one connection each. Known only while the listener lives.
    package var connectionProcesses: [Int32] {
        guard let process = listener.withLock({ $0 }) else { return [] }
        let entries = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return entries.compactMap { Int32($0) }.filter { Self.parent(of: $0) == process.pid }
    }

    /// Gives the server another host key, which it shows after its next start.
    package func replaceHostKey() async throws {
        try FileManager.default.removeItem(atPath: directory + "/host_key")
        try FileManager.default.removeItem(atPath: directory + "/host_key.pub")
        try await Self.makeKey(directory + "/host_key")
    }

    /// Makes a key pair by ssh-keygen; the public half gets the suffix `.pub`.
    package static func makeKey(
        _ path: String,
        type: [String] = ["-t", "ed25519"],
        passphrase: String = ""
    ) async throws {
        let result = try await CommandRunner.run(
            ProcessSpecification(
                executable: "/usr/bin/ssh-keygen",
                arguments: ["-q", "-N", passphrase, "-C", "test", "-f", path] + type
            ),
            timeout: .seconds(30),
            outputLimit: 4096
        )
        guard result.termination == .exited(0) else {
            throw Failure(description: "ssh-keygen: " + String(decoding: result.errorOutput, as: UTF8.self))
        }
    }

    /// Lets another key in, for the same forced command.
    package func authorize(publicKeyFile: String) throws {
        let options = try Self.text(of: directory + "/authorized_keys").prefix { $0 != "\n" }
            .replacingOccurrences(
                of: try Self.text(of: identityFile + ".pub").trimmingCharacters(in: .newlines),
                with: ""
            )
        let lines = try Self.text(of: directory + "/authorized_keys") + options + Self.text(of: publicKeyFile)
        try Self.write(lines, to: directory + "/authorized_keys")
    }

    /// Suspends until sshd's log contains a text, for twenty seconds at most.
    package func waitForLog(containing text: String) async throws {
        try await eventually("\"\(text)\" in sshd's log") { log.contains(text) }
    }

    private static func parent(of process: Int32) -> Int32? {
        guard let status = try? text(of: "/proc/\(process)/status") else { return nil }
        let line = status.split(separator: "\n").first { $0.hasPrefix("PPid:") }
        return line.flatMap { Int32($0.dropFirst(5).trimmingCharacters(in: .whitespaces)) }
    }

    /// A free port below those that outgoing connections get, so that nobody takes it before the server does.
    /// Ports that servers of this process have, or had and may start on again.
    private static let takenPorts = Mutex<Set<UInt16>>([])

    private static func freePort() throws -> UInt16 {
        for _ in 0..<100 {
            let number = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
            guard number >= 0 else { throw SystemError(operation: "make a socket") }
            let descriptor = FileDescriptor(adopting: number)
            let port = UInt16.random(in: 10_000..<30_000)
            guard takenPorts.withLock({ $0.insert(port).inserted }) else { continue }
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
            address.sin_port = port.bigEndian
            let code = withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(descriptor.number, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
            if code == 0 { return port }
        }
        throw Failure(description: "found no free port")
    }

    private static func text(of path: String) throws -> String {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw Failure(description: "cannot read \(path)")
        }
        return String(decoding: data, as: UTF8.self)
    }

    private static func write(_ text: String, to path: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    }
}
