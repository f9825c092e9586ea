import BerthCoordinator
import BerthCore
import BerthStore
import BerthSystem
import Foundation

@main
struct Main {
    static let usage = """
        Usage: berth-coordinator serve --data FOLDER [options]

        Owns the farm's state, assigns runs to agents over SSH, serves the API.

          --data FOLDER          store, archive and tokens; made if absent
          --database CONNINFO    keep the store in a PostgreSQL database (postgresql://user@host/name, or host=… dbname=…)
                                 instead of a file; a password belongs into PGPASSFILE
          --archive FOLDER       where builds and evidence are kept (default DATA/archive); coordinators on one database
                                 share it
          --listen ADDRESS:PORT  where the API listens (default 127.0.0.1:8750; port 0: any free one, written to FOLDER/address)
          --lease-seconds N      length of an attempt's lease, 2 to 3600 (default 15)
          --ssh-threads N        threads that serve the SSH connections, 1 to 64 (default: one a processor, at most 4)
          --gate-policy FILE     a policy that the dashboard shows verdicts of, beside the standard one; may be repeated
          --allow-proxy-commands hosts may be enrolled with a proxy command: whoever has a token can then run commands as
                                 the coordinator's user
          --version              print the version

        The first start makes an admin token in FOLDER/admin.token.
        Exit status: 0 ended on request, 64 usage, 65 a policy that is none, 73 another coordinator uses the folder,
        74 no room on the disk to begin with, 70 anything else.

        """

    private static let options = [
        "--data", "--database", "--archive", "--listen", "--lease-seconds", "--ssh-threads", "--gate-policy",
    ]

    static func main() async {
        Signals.ignoreBrokenPipes()
        let configuration: CoordinatorConfiguration
        switch parse(Array(CommandLine.arguments.dropFirst())) {
        case .success(let parsed): configuration = parsed
        case .failure(let stop):
            if let problem = stop.problem {
                StandardStreams.writeError("berth-coordinator: \(problem)\n\(stop.text)")
                exit(stop.code)
            }
            StandardStreams.writeOutput(stop.text)
            exit(0)
        }
        do {
            try CoordinatorHarness.begin()
        } catch {
            StandardStreams.writeError("berth-coordinator: \(error)\n")
            exit(error is CoordinatorHarness.Refusal ? 64 : 70)
        }
        let requests = Signals.endRequests()
        let serving = Task { try await Coordinator(configuration).run { _ in } }
        // Ends with the process: it only turns the first signal into a cancellation.
        Task {
            for await _ in requests { serving.cancel() }
        }
        do {
            try await serving.value
        } catch let error as FileLockError {
            StandardStreams.writeError("berth-coordinator: \(error)\n")
            exit(73)
        } catch let error where isDiskFull(error) {
            StandardStreams.writeError(
                "berth-coordinator: \(error)\nThe disk is full, and nothing can be served without room on it: make room, then "
                    + "start again.\n"
            )
            exit(74)
        } catch {
            StandardStreams.writeError("berth-coordinator: \(error)\n")
            exit(70)
        }
    }

    private static func isDiskFull(_ error: any Error) -> Bool {
        switch error {
        case let error as SystemError: error.isDiskFull
        case StoreError.storageFull: true
        default: false
        }
    }

    private struct Stop: Error {
        var problem: String?
        var text = "\n\(Main.usage)"
        var code: Int32 = 64
    }

    private static func parse(_ arguments: [String]) -> Result<CoordinatorConfiguration, Stop> {
        if arguments.contains("--help") || arguments.contains("-h") { return .failure(Stop(text: usage)) }
        if arguments == ["--version"] { return .failure(Stop(text: "berth-coordinator \(BerthVersion.text)\n")) }
        guard arguments.first == "serve" else { return .failure(Stop(problem: "the command is serve")) }
        var options: [String: String] = [:]
        var policyFiles: [String] = []
        var allowsProxyCommands = false
        var rest = arguments.dropFirst()
        while let option = rest.popFirst() {
            if option == "--allow-proxy-commands" {
                allowsProxyCommands = true
                continue
            }
            guard Self.options.contains(option) else {
                return .failure(Stop(problem: "unknown option \(option)"))
            }
            guard let value = rest.popFirst() else { return .failure(Stop(problem: "\(option) needs a value")) }
            if option == "--gate-policy" { policyFiles.append(value) } else { options[option] = value }
        }
        guard let data = options["--data"] else { return .failure(Stop(problem: "--data is missing")) }
        var configuration = CoordinatorConfiguration(dataFolder: data)
        configuration.allowsProxyCommands = allowsProxyCommands
        configuration.database = options["--database"]
        configuration.archiveFolder = options["--archive"]
        if let listen = options["--listen"] {
            guard let colon = listen.lastIndex(of: ":"), let port = UInt16(listen[listen.index(after: colon)...]) else {
                return .failure(Stop(problem: "--listen needs ADDRESS:PORT, not \(listen)"))
            }
            configuration.address = String(listen[..<colon])
            configuration.port = port
        }
        if let text = options["--lease-seconds"] {
            guard let seconds = Int(text), (2...3600).contains(seconds) else {
                return .failure(Stop(problem: "--lease-seconds needs a number from 2 to 3600, not \(text)"))
            }
            configuration.leases = LeasePolicy(
                length: .seconds(seconds),
                heartbeat: min(.seconds(1), .milliseconds(seconds * 1000 / 6))
            )
        }
        if let text = options["--ssh-threads"] {
            guard let count = Int(text), (1...64).contains(count) else {
                return .failure(Stop(problem: "--ssh-threads needs a number from 1 to 64, not \(text)"))
            }
            configuration.sshThreads = count
        }
        for file in policyFiles {
            do {
                configuration.policies.append(try GatePolicy.parse(try DurableFile.read(file, limit: 1 << 20)))
            } catch {
                return .failure(Stop(problem: "--gate-policy \(file): \(error)", text: "", code: 65))
            }
        }
        return .success(configuration)
    }
}
