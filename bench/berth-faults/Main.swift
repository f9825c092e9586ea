import BerthFaults
import BerthSystem
import Foundation

@main
struct Main {
    private static let usage = """
        Usage: berth-faults [--only FORM] [--seconds N] [--seed N] [--hosts N] [--slots N] [--runs N]
                            [--show] [--postgres] [--keep FOLDER]

        Lets a farm of real parts work under faults (bench/README.md), and judges by the devices' own logs and the ledgers
        whether anything was lost, run twice, or shared. `ops/bench faults` builds and calls it.

          --only FORM    storm (all faults at once, the default), results (10,000 runs beside kills), adoption (a kill with
                         500 runs in flight), deaths (pauses that are none), failover (between two coordinators)
          --runs N       ends a storm when so many runs are submitted
          --seconds N    how long the storm is (default 60)
          --seed N       repeats a storm's faults; without it the seed is drawn and printed
          --hosts N      how many hosts (default 3)
          --slots N      how many slots on each (default 6)
          --show         breaks agents and coordinator on purpose, in four ways, and expects that each is noticed
          --postgres     keeps the store in a PostgreSQL server, which is killed too
          --keep FOLDER  where the farm's folder is kept after a violation

        Standard output gets one JSON object for each figure, standard error the words.
        Exit status: 0 nothing was violated (with --show: everything was noticed), 1 otherwise, 64 usage, 70 no farm,
        130 asked to end by SIGINT or SIGTERM; the farm is ended first.

        """

    static func main() async {
        var arguments = CommandLine.arguments.dropFirst()
        do {
            if arguments.first == "pipe" { return try await pipe(arguments.dropFirst()) }
            if arguments.contains("--help") {
                StandardStreams.writeOutput(usage)
                return
            }
            let command = try FaultCommand(&arguments)
            exit(try await run(command) ? 0 : 1)
        } catch is CancellationError {
            exit(130)
        } catch let error as FaultCommand.Usage {
            StandardStreams.writeError("berth-faults: \(error.words)\n\(usage)")
            exit(64)
        } catch {
            StandardStreams.writeError("berth-faults: \(error)\n")
            exit(70)
        }
    }

    /// Runs the command; a request to end ends the farm, which would go on without it otherwise.
    private static func run(_ command: FaultCommand) async throws -> Bool {
        let requests = Signals.endRequests()
        let work = Task { try await command.run() }
        // Ends with the program.
        Task {
            for await _ in requests {
                StandardStreams.writeError("berth-faults: asked to end; ending the farm\n")
                work.cancel()
            }
        }
        return try await work.value
    }

    /// `pipe --memory FOLDER --seed N --lose N -- COMMAND`: what the harness puts between sshd and `attach`.
    private static func pipe(_ arguments: ArraySlice<String>) async throws {
        let words = Array(arguments)
        guard words.count > 7, words[0] == "--memory", words[2] == "--seed", let seed = UInt64(words[3]),
            words[4] == "--lose", let lost = Int(words[5]), words[6] == "--"
        else { throw FaultCommand.Usage(words: "pipe --memory FOLDER --seed N --lose N -- COMMAND") }
        var options = FramePipe.Options()
        options.memory = words[1]
        // Each connection has chances of its own.
        options.seed = seed ^ UInt64(getpid())
        options.lostReplies = lost
        try await FramePipe.run(Array(words[7...]), options)
    }
}
