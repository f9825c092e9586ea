import BerthSystem
import Foundation

/// A real PostgreSQL server on a private socket, for tests; all of it lies in one folder.
///
/// It runs as the user `postgres` when the tests run as root, and ends when the test process does, however that ends.
package actor TestPostgresServer {
    /// Why the server is not there.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    /// In a query: the sessions that hold something in their sleep, in the database that is asked. Others have theirs.
    package static let sleepers = "FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND datname = current_database()"

    private static let shared = Task { try await TestPostgresServer() }

    /// The server that all tests of this process share.
    package static func started() async throws -> TestPostgresServer { try await shared.value }

    private let folder: TemporaryDirectory
    private let programs: String
    private let asOwner: [String]
    private var guardian: ChildProcess?
    /// Its closing ends the server.
    private var leash: FileDescriptor?

    /// Makes an empty server and starts it.
    package init() async throws {
        folder = try TemporaryDirectory()
        let versions = try FileManager.default.contentsOfDirectory(atPath: "/usr/lib/postgresql").sorted()
        guard let version = versions.last else { throw Failure(description: "PostgreSQL is not installed") }
        programs = "/usr/lib/postgresql/\(version)/bin"
        if getuid() == 0 {
            asOwner = ["/usr/bin/setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups", "--"]
            // Its owner is another user, who must be able to pass.
            chmod(folder.path, 0o711)
        } else {
            asOwner = []
        }
        for name in ["data", "sockets"] {
            let path = "\(folder.path)/\(name)"
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
            guard getuid() == 0 else { continue }
            guard let owner = getpwnam("postgres") else { throw Failure(description: "there is no user postgres") }
            chown(path, owner.pointee.pw_uid, owner.pointee.pw_gid)
        }
        try await run([
            "\(programs)/initdb", "-D", "\(folder.path)/data", "--auth=trust", "--username=berth", "--no-sync",
            "--encoding=UTF8", "--locale=C.UTF-8",
        ])
        try await start()
    }

    /// How to connect to a database of this server.
    package func conninfo(database: String) -> String {
        "host=\(folder.path)/sockets user=berth dbname=\(database)"
    }

    /// Makes a database for one test.
    package func makeDatabase() async throws -> String {
        let name = "test_\(Hex.encode(RandomBytes.make(8)))"
        try await run(["\(programs)/createdb", "-h", "\(folder.path)/sockets", "-U", "berth", name])
        return conninfo(database: name)
    }

    /// Runs SQL as an administrator would, and gives what it printed, unaligned.
    @discardableResult
    package func sql(_ text: String, _ conninfo: String) async throws -> String {
        try await run(["/usr/bin/psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-d", conninfo, "-c", text])
    }

    /// Starts the server, or starts it again, and returns when it answers.
    package func start() async throws {
        let ends = try FileDescriptor.pipe()
        let options = [
            "-D", "\(folder.path)/data", "-k", "\(folder.path)/sockets", "-c", "listen_addresses=", "-c",
            "max_connections=600",
        ]
        guardian = try ChildProcess.spawn(
            ProcessSpecification(
                executable: "/bin/sh",
                arguments: [
                    "-c",
                    "folder=$1; shift; \"$@\" <&- & server=$!; cat; kill -INT $server; wait $server; rm -rf \"$folder\"",
                    "sh", folder.path,
                ] + asOwner + ["\(programs)/postgres"] + options,
                environment: ["PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"],
                standardInput: .descriptor(ends.read.number),
                standardOutput: .appendingFile("\(folder.path)/log"),
                standardError: .appendingFile("\(folder.path)/log")
            )
        )
        leash = ends.write
        for _ in 0..<600 {
            if (try? await sql("SELECT 1", conninfo(database: "postgres"))) != nil { return }
            try await Task.sleep(for: .milliseconds(50))
        }
        throw Failure(description: "PostgreSQL does not answer: \(log)")
    }

    /// Kills every process of the server at once, as a crash of its machine does.
    package func kill() async throws {
        if let guardian {
            Foundation.kill(guardian.pid, SIGKILL)
            _ = await guardian.wait()
        }
        let path = "\(folder.path)/data"
        try await eventually("the server's processes are gone") {
            let all = try FileManager.default.contentsOfDirectory(atPath: "/proc").compactMap { Int32($0) }
            let own = all.filter {
                (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\($0)/cwd")) == path
            }
            for process in own { Foundation.kill(process, SIGKILL) }
            return own.isEmpty
        }
        // Its number may live on in a process that nobody has reaped yet.
        for file in ["\(path)/postmaster.pid", "\(folder.path)/sockets/.s.PGSQL.5432.lock"] {
            try? FileManager.default.removeItem(atPath: file)
        }
    }

    private var log: String { (try? String(contentsOfFile: "\(folder.path)/log", encoding: .utf8)) ?? "no log" }

    @discardableResult
    private func run(_ command: [String]) async throws -> String {
        let arguments = asOwner + command
        let result = try await CommandRunner.run(
            ProcessSpecification(
                executable: arguments[0],
                arguments: Array(arguments.dropFirst()),
                environment: ["PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"],
                workingDirectory: "/"
            ),
            timeout: .seconds(120)
        )
        guard result.termination == .exited(0) else {
            throw Failure(description: "\(command[0]): \(result.errorText)")
        }
        return result.outputText
    }
}
