import BerthSystem
import Foundation

/// The `simctl` tool: verbs, texts and exit statuses as Apple's, for simulated devices.
package struct Simctl {
    /// A wrong call of a verb.
    struct UsageError: Error {
        /// Nil: only the usage.
        let message: String?
        let usage: String
        /// 117 for a wrong call, 1 for an unknown verb.
        var exitStatus: Int32 = 117
    }

    /// Runs one command.
    ///
    /// - Parameter arguments: what follows the tool's name.
    /// - Returns: the exit status.
    package static func run(_ arguments: [String]) -> Int32 {
        do {
            return try Simctl(arguments).run()
        } catch let error as SimulatorError {
            StandardStreams.writeError(error.text)
            return error.exitStatus
        } catch let error as UsageError {
            if let message = error.message { StandardStreams.writeError(message + "\n") }
            StandardStreams.writeOutput(error.usage + "\n")
            return error.exitStatus
        } catch {
            let failure = SimulatorError.hostFailure("\(error)")
            StandardStreams.writeError(failure.text)
            return failure.exitStatus
        }
    }

    private let setPath: String?
    private let verb: String
    private var arguments: Arguments

    private init(_ arguments: [String]) throws {
        var rest = arguments[...]
        var setPath: String?
        while let first = rest.first, first.hasPrefix("-") {
            rest.removeFirst()
            switch first {
            case "--set":
                guard let path = rest.popFirst() else { throw Self.usage("--set needs a path") }
                setPath = path
            case "-h", "--help": rest = ["help"]
            default:
                guard first.hasPrefix("--set=") else { throw Self.usage("Unrecognized option: \(first)") }
                setPath = String(first.dropFirst("--set=".count))
            }
        }
        guard let verb = rest.popFirst() else { throw Self.usage(nil) }
        self.setPath = setPath
        self.verb = verb
        self.arguments = Arguments(Array(rest), verb: verb)
    }

    /// The verbs with the form of their arguments.
    private static let verbs: [(name: String, form: String)] = [
        ("appinfo", "<device> <app bundle identifier>"),
        ("boot", "<device>"),
        ("bootstatus", "<device> [-b] [-d]"),
        ("clone", "<device> <new name>"),
        ("create", "<name> <device type> [<runtime>]"),
        ("delete", "<device> [... <device n>] | unavailable | all"),
        ("erase", "<device> [... <device n>] | all"),
        ("get_app_container", "<device> <app bundle identifier> [app | data]"),
        ("install", "<device> <path>"),
        (
            "launch",
            "[--console] [--stdout=<path>] [--stderr=<path>] [--terminate-running-process] <device> "
                + "<app bundle identifier> [<argv 1> ... <argv n>]"
        ),
        ("list", "[-j | --json] [-v] [devices|devicetypes|runtimes|pairs] [<search term>|available]"),
        ("listapps", "<device>"),
        ("shutdown", "<device> | all"),
        ("terminate", "<device> <app bundle identifier>"),
        ("uninstall", "<device> <app bundle identifier>"),
    ]

    /// The text that `help` prints.
    package static var help: String {
        let lines = verbs.map { "    \($0.name) \($0.form)" }
        return """
            usage: simctl [--set <path>] <subcommand> ...
                   simctl help [subcommand]

            <device> is a UDID, a name, or "booted". Environment variables whose names start with SIMCTL_CHILD_ reach
            a launched app without that prefix.

            subcommands:
            \(lines.joined(separator: "\n"))
            """
    }

    private static func usage(_ message: String?, exitStatus: Int32 = 1) -> UsageError {
        UsageError(message: message, usage: help, exitStatus: exitStatus)
    }

    /// The form of a verb's call, for a wrong one.
    static func usage(of verb: String, _ message: String?) -> UsageError {
        let form = verbs.first { $0.name == verb }?.form ?? ""
        return UsageError(message: message, usage: "usage: simctl \(verb) \(form)")
    }

    private func run() throws -> Int32 {
        if verb == "help" { return printHelp() }
        guard Self.verbs.contains(where: { $0.name == verb }) else {
            throw Self.usage("Unrecognized subcommand: \(verb)")
        }
        let set = try DeviceSet(path: setPath)
        switch verb {
        case "list": try ListVerb(set: set, arguments: arguments).run()
        case "create": try DeviceVerbs(set: set).create(arguments)
        case "clone": try DeviceVerbs(set: set).clone(arguments)
        case "erase": try DeviceVerbs(set: set).erase(arguments)
        case "delete": try DeviceVerbs(set: set).delete(arguments)
        case "boot": try StateVerbs(set: set).boot(arguments)
        case "bootstatus": try StateVerbs(set: set).bootstatus(arguments)
        case "shutdown": try StateVerbs(set: set).shutdown(arguments)
        case "install": try ApplicationVerbs(set: set).install(arguments)
        case "uninstall": try ApplicationVerbs(set: set).uninstall(arguments)
        case "launch": try LaunchVerb(set: set).run(arguments)
        case "terminate": try ApplicationVerbs(set: set).terminate(arguments)
        case "get_app_container": try LookupVerbs(set: set).container(arguments)
        case "listapps": try LookupVerbs(set: set).list(arguments)
        default: try LookupVerbs(set: set).information(arguments)
        }
        return 0
    }

    private func printHelp() -> Int32 {
        let topic = arguments.positional.first
        if let topic, let known = Self.verbs.first(where: { $0.name == topic }) {
            StandardStreams.writeOutput("usage: simctl \(known.name) \(known.form)\n")
            return 0
        }
        StandardStreams.writeOutput(Self.help + "\n")
        return topic == nil ? 0 : 1
    }
}
