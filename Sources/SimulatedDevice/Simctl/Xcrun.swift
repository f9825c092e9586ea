import BerthSystem

/// The `xcrun` tool, which finds `simctl`, `codesign` and `devicectl` here.
package enum Xcrun {
    /// What a program that looks at `xcrun --version` needs to know: these are not Apple's tools.
    package static let version = "berth-sim version \(BerthSim.version), platform linux-simulated"

    /// Runs one command.
    ///
    /// - Parameter arguments: what follows the tool's name.
    /// - Returns: the exit status.
    package static func run(_ arguments: [String]) -> Int32 {
        var rest = arguments[...]
        var find = false
        while let option = rest.first, option.hasPrefix("-") {
            rest.removeFirst()
            switch option {
            case "--version", "-version":
                StandardStreams.writeOutput("\(version)\n")
                return 0
            case "-f", "--find", "-find": find = true
            case "--run", "-run", "-r", "-v", "--verbose", "-n", "--no-cache", "-l", "--log": continue
            case "--sdk", "-sdk", "--toolchain": rest = rest.dropFirst()
            case "-h", "--help":
                StandardStreams.writeOutput("Usage: xcrun [options] <tool name> ... arguments ...\n")
                return 0
            default:
                StandardStreams.writeError("xcrun: error: unknown option \"\(option)\"\n")
                return 64
            }
        }
        guard let tool = rest.popFirst() else {
            StandardStreams.writeError("xcrun: error: no utility was specified; try --help\n")
            return 64
        }
        guard ["simctl", "codesign", "devicectl"].contains(tool) else {
            StandardStreams.writeError(
                "xcrun: error: unable to find utility \"\(tool)\", not a developer tool or in PATH\n"
            )
            return 72
        }
        if find {
            let path = (try? SupervisorProcess.executable()) ?? tool
            StandardStreams.writeOutput("\(path) \(tool)\n")
            return 0
        }
        switch tool {
        case "simctl": return Simctl.run(Array(rest))
        case "devicectl": return Devicectl.run(Array(rest))
        default: return Codesign.run(Array(rest))
        }
    }
}
