import BerthSystem
import Foundation

/// The program `berth-sim`, under each of its names.
package enum BerthSim {
    package static let version = "1.0"

    private static let tools = ["xcrun", "simctl", "codesign", "devicectl"]

    /// Runs the program.
    ///
    /// - Parameter arguments: all arguments, the program's name first.
    /// - Returns: the exit status.
    package static func run(_ arguments: [String]) -> Int32 {
        Signals.ignoreBrokenPipes()
        var rest = arguments[...]
        var name = rest.popFirst().map { ($0 as NSString).lastPathComponent } ?? "berth-sim"
        if !tools.contains(name) { name = rest.popFirst() ?? "--help" }
        let others = Array(rest)
        do {
            switch name {
            case "xcrun": return Xcrun.run(others)
            case "simctl": return Simctl.run(others)
            case "codesign": return Codesign.run(others)
            case "devicectl": return Devicectl.run(others)
            case "phone": return try phone(others)
            case "tools" where others.count == 1: return try link(into: others[0])
            case "device-info": return try deviceInformation(others)
            case "fault": return try FaultVerb.run(others)
            case "supervise": return try supervise(others)
            case "--version": return say(Xcrun.version)
            case "--help", "-h", "help": return say(help)
            default:
                StandardStreams.writeError("berth-sim: unknown command \(name)\n\(help)\n")
                return 64
            }
        } catch let error as SimulatorError {
            StandardStreams.writeError(error.text)
            return error.exitStatus
        } catch {
            StandardStreams.writeError("berth-sim: \(error)\n")
            return 1
        }
    }

    private static let help = """
        usage: berth-sim <command> ...

        Simulated devices for Linux, with the command surface of Apple's tools.

          simctl ...             devices and their apps; see `berth-sim simctl help`
          xcrun simctl|codesign|devicectl
                                 as through xcrun
          codesign -d ...        the entitlements of an app bundle
          devicectl ...          stand-in phones, for tests; see `berth-sim devicectl --help`
          tools DIR              makes DIR/xcrun, DIR/simctl, DIR/codesign and DIR/devicectl; put DIR first in PATH
          device-info [--set PATH] DEVICE
                                 state, boot ID, lock state and runtime of a device, as JSON
          phone create NAME [--udid UDID]
                                 makes a stand-in phone and prints its UDID
          phone list             folder, UDID and name of each
          fault [--set PATH] DEVICE --call add|copy|update|delete --status N [--times 1] [--after 0]
                                 lets keychain calls of apps fail: after so many calls of the kind, so many times
          fault [--set PATH] DEVICE --clear
                                 ends that, and says how many failures no call has met
          --version              version and platform

        Called as xcrun, simctl, codesign or devicectl, it is that tool.

        environment:
          BERTH_SIM_RUNTIMES     the folder with the runtimes (default ~/.local/share/berth-sim/runtimes)
          BERTH_SIM_PHONES       the folder with the stand-in phones (default ~/.local/share/berth-sim/phones)
          BERTH_SIM_END_WITH     a folder; a device that is booted with it shuts down when the folder is gone
          SIMCTL_CHILD_NAME      reaches a launched app as NAME
        """

    private static func say(_ text: String) -> Int32 {
        StandardStreams.writeOutput(text + "\n")
        return 0
    }

    private static func link(into folder: String) throws -> Int32 {
        let executable = try SupervisorProcess.executable()
        try DurableFile.makeFolder(folder)
        for tool in tools {
            let partial = "\(folder)/.\(tool)-\(UUID().uuidString)"
            try FileManager.default.createSymbolicLink(atPath: partial, withDestinationPath: executable)
            try DurableFile.rename(partial, to: "\(folder)/\(tool)")
        }
        return 0
    }

    /// `--name value` before or after the one other argument.
    static func parse(_ arguments: [String], options: Set<String>) -> (String, [String: String])? {
        var values: [String: String] = [:]
        var names: [String] = []
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            if options.contains(argument) {
                values[argument] = rest.popFirst()
            } else {
                names.append(argument)
            }
        }
        guard names.count == 1 else { return nil }
        return (names[0], values)
    }

    private static func deviceInformation(_ arguments: [String]) throws -> Int32 {
        guard let (name, options) = parse(arguments, options: ["--set"]) else {
            StandardStreams.writeError("usage: berth-sim device-info [--set PATH] DEVICE\n")
            return 64
        }
        let device = try DeviceSet(path: options["--set"]).device(name)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return say(String(decoding: try encoder.encode(DeviceInformation(device)), as: UTF8.self))
    }

    private static func phone(_ arguments: [String]) throws -> Int32 {
        let folder = try PhoneFolder()
        if arguments == ["list"] {
            for phone in folder.phones() { _ = say("\(phone.path) \(phone.record.udid) \(phone.record.name)") }
            return 0
        }
        guard arguments.first == "create",
            let (name, options) = parse(Array(arguments.dropFirst()), options: ["--udid"])
        else {
            StandardStreams.writeError("usage: berth-sim phone create NAME [--udid UDID] | phone list\n")
            return 64
        }
        return say(try folder.create(name: name, udid: options["--udid"]).record.udid)
    }

    /// Becomes the supervisor of a device; only `boot` calls this.
    private static func supervise(_ arguments: [String]) throws -> Int32 {
        guard let (udid, options) = parse(arguments, options: ["--set", "--ready"]),
            let ready = options["--ready"].flatMap(Int32.init)
        else {
            StandardStreams.writeError("berth-sim: supervise is started by `simctl boot`\n")
            return 64
        }
        let device = try DeviceSet(path: options["--set"]).device(udid)
        Supervisor.run(folder: device.folder, environment: ProcessInfo.processInfo.environment) { error in
            let report = SupervisorProcess.Report(error: error)
            let pipe = FileDescriptor(adopting: ready)
            // If nobody reads it any more, boot was interrupted, and the device is booted all the same.
            if let bytes = try? JSONEncoder().encode(report) { try? pipe.write(bytes) }
        }
    }
}
