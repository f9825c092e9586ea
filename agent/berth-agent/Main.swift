import BerthAgent
import BerthCore
import BerthSystem
import Foundation

@main
struct Main {
    private static let usage = """
        Usage: berth-agent serve --slot NAME --state DIR --sockets DIR --cache DIR [--kind simulator] [--xcrun PATH]
                                 [--device-type ID] [--runtime ID] [--status-timeout SECONDS] [--preserved-limit N]
               berth-agent serve --slot NAME --state DIR --sockets DIR --cache DIR --kind hardware --device UDID
                                 [--xcrun PATH] [--hold-minutes N] [--locks DIR] [--status-timeout SECONDS]
               berth-agent release --state DIR [--unclean REASON] [--wait SECONDS]
               berth-agent shell --state DIR [--yield] [--wait SECONDS] [--device UDID]
               berth-agent attach --sockets DIR --cache DIR
               berth-agent --version

        serve   the agent of one slot; listens at DIR/NAME.sock
        release has the agent let go of what it keeps after failures; a phone is cleaned first, and stays in quarantine
                if it is not proved clean, unless a reason is given
        shell   $SHELL for manual work under the lock of the slot's device; with --yield a serving agent lets go of it
                when it is idle, and takes it back when the shell and all that it started have ended
        attach  joins standard input and output to the agents of this host; run by SSH

        Exit status: 0 ended as asked, 64 usage, 65 damaged state, 69 device tool unavailable, 70 executor stuck,
        73 device held by another process, 74 disk, 75 phone not proved clean, 76 no common protocol.

        """

    static func main() async {
        let arguments = CommandLine.arguments.dropFirst()
        do {
            switch arguments.first {
            case "serve":
                try await ServeCommand.run(try ServeOptions(arguments.dropFirst()))
            case "release":
                try await ReleaseCommand.run(arguments.dropFirst())
            case "shell":
                try await ShellCommand.run(arguments.dropFirst())
            case "attach":
                let options = try CommandArguments(arguments.dropFirst(), known: ["--sockets", "--cache"])
                let (sockets, cache) = (try options.required("--sockets"), try options.required("--cache"))
                try await Threads.run(name: "attach") { try AttachCommand.run(sockets: sockets, cache: cache) }
            case "--version":
                StandardStreams.writeOutput("berth-agent \(BerthVersion.text)\n")
            case "--help", "-h":
                StandardStreams.writeOutput(usage)
            case let other:
                throw AgentFailure(.usage, "\(other ?? "nothing") is no command of berth-agent; see --help")
            }
        } catch let failure as AgentFailure {
            StandardStreams.writeError("berth-agent: \(failure)\n")
            exit(failure.status.rawValue)
        } catch {
            StandardStreams.writeError("berth-agent: \(error)\n")
            exit(AgentFailure.Status.disk.rawValue)
        }
        exit(0)
    }
}
