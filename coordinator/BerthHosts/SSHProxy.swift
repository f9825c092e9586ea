import BerthSystem
import Foundation
import Synchronization

/// The process that carries a connection: a proxy command, or an ssh that goes through jump hosts. It ends, with its
/// whole process group, together with the connection.
final class SSHProxy: Sendable {
    static let sshProgram = "/usr/bin/ssh"
    private static let errorOutputLimit = 1024

    /// Our end of the pair whose other end is the command's input and output.
    let socket: FileDescriptor
    private let process: ChildProcess
    private let errorOutput: OutputCollector
    /// Made for this connection, removed with it.
    private let folder: String?
    private let hasEnded = Atomic(false)

    private init(socket: FileDescriptor, process: ChildProcess, errorOutput: OutputCollector, folder: String?) {
        self.socket = socket
        self.process = process
        self.errorOutput = errorOutput
        self.folder = folder
    }

    deinit { end() }

    /// Starts what the endpoint's route needs; nil for a direct one.
    /// - Throws: `SSHError.routeInvalid`, `.agentUnusable`, `.agentKeyMissing`, `.proxyFailed`
    static func start(for endpoint: SSHEndpoint) async throws(SSHError) -> SSHProxy? {
        try endpoint.checkRoute()
        guard endpoint.route != .direct else { return nil }
        do {
            return try await Threads.run(name: "ssh-proxy") { try startBlocking(endpoint) }
        } catch let error as SSHError {
            throw error
        } catch {
            throw .proxyFailed(host: endpoint.hostName, port: endpoint.port, reason: "\(error)", errorOutput: "")
        }
    }

    /// Ends the command and what it started; returns at once.
    func end() {
        guard !hasEnded.exchange(true, ordering: .acquiringAndReleasing) else { return }
        let (process, folder) = (process, folder)
        Threads.detach(name: "ssh-proxy-end") {
            process.signalGroup(SIGTERM)
            for _ in 0..<100 where process.termination == nil { usleep(10_000) }
            process.signalGroup(SIGKILL)
            if let folder { try? FileManager.default.removeItem(atPath: folder) }
        }
    }

    /// An error of the connection with what the command said of it, if the command was the cause.
    func explain(_ error: SSHError, host: String, port: UInt16) async -> SSHError {
        let reason: String
        switch error {
        case .disconnected(_, _, let stage, let text): reason = "\(text) while \(stage.rawValue)"
        case .unreachable(_, _, let text): reason = text
        case .timedOut(_, _, let stage, let limit): reason = "nothing came of \(stage.rawValue) within \(limit)"
        default: return error
        }
        _ = await errorOutput.waitForEnd(grace: .seconds(1))
        let text = String(decoding: errorOutput.snapshot.bytes, as: UTF8.self)
        let ended = process.termination.map { ", the command ended with \($0)" } ?? ""
        return .proxyFailed(
            host: host,
            port: port,
            reason: reason + ended,
            errorOutput: text.trimmingCharacters(in: .whitespacesAndNewlines)
        )
    }

    private static func startBlocking(_ endpoint: SSHEndpoint) throws -> SSHProxy {
        var numbers: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, type, 0, &numbers) == 0 else { throw SystemError(operation: "make a socket pair") }
        let (ours, theirs) = (FileDescriptor(adopting: numbers[0]), FileDescriptor(adopting: numbers[1]))
        let (errorReader, errorWriter) = try FileDescriptor.pipe()
        var executable = "/bin/sh"
        var environment = ProcessInfo.processInfo.environment
        var arguments: [String] = []
        var folder: String?
        switch endpoint.route {
        case .direct: preconditionFailure("a direct route has no proxy")
        case .proxyCommand(let command): arguments = ["-c", try endpoint.expand(command)]
        case .jump(let hops):
            let made = try makeFolder(for: endpoint, hops)
            folder = made
            executable = sshProgram
            // By this shell ssh starts the ssh to the hop before.
            environment["SHELL"] = "/bin/sh"
            arguments = endpoint.jumpArguments(
                hops[...],
                folder: made,
                target: (endpoint.hostName, endpoint.port)
            )
        }
        do {
            let process = try ChildProcess.spawn(
                ProcessSpecification(
                    executable: executable,
                    arguments: arguments,
                    environment: environment,
                    standardInput: .descriptor(theirs.number),
                    standardOutput: .descriptor(theirs.number),
                    standardError: .descriptor(errorWriter.number)
                )
            )
            // Ours close only after the command has its copies; its end is the end of both streams.
            withExtendedLifetime((theirs, errorWriter)) {}
            let collector = OutputCollector(limit: errorOutputLimit)
            Threads.detach(name: "ssh-proxy-errors") { collector.drain(errorReader) }
            return SSHProxy(socket: ours, process: process, errorOutput: collector, folder: folder)
        } catch {
            if let folder { try? FileManager.default.removeItem(atPath: folder) }
            throw error
        }
    }

    /// A private folder with the pinned keys, and the public half of an agent's key.
    private static func makeFolder(for endpoint: SSHEndpoint, _ hops: [SSHJump]) throws -> String {
        let folder = NSTemporaryDirectory() + "berth-jump-\(Hex.encode(RandomBytes.make(8)))"
        try FileManager.default.createDirectory(
            atPath: folder,
            withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700]
        )
        do {
            let lines = hops.map { hop in
                let name = hop.port == 22 ? hop.hostName : "[\(hop.hostName)]:\(hop.port)"
                return "\(name) \(hop.pinnedHostKey.line)\n"
            }
            try DurableFile.replace("\(folder)/known_hosts", with: Array(lines.joined().utf8))
            if let identity = endpoint.agent {
                let key = try SSHAgent(socket: identity.socket).key(fingerprint: identity.fingerprint)
                try DurableFile.replace("\(folder)/identity.pub", with: Array("\(key.line)\n".utf8))
            }
            return folder
        } catch {
            try? FileManager.default.removeItem(atPath: folder)
            throw error
        }
    }
}
