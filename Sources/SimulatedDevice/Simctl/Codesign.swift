import BerthSystem
import Foundation

/// The `codesign` tool, as far as it shows what a bundle may do: `codesign -d [--entitlements …] [--xml] [-v] <app>`.
package enum Codesign {
    /// Runs one command.
    ///
    /// - Parameter arguments: what follows the tool's name.
    /// - Returns: the exit status: 0, 1 when the operation failed, 2 for wrong arguments.
    package static func run(_ arguments: [String]) -> Int32 {
        var display = false
        var verbose = false
        var xml = false
        var target: String?
        var paths: [String] = []
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "-d", "--display": display = true
            case "--xml": xml = true
            case "--entitlements":
                guard let value = rest.popFirst() else { return usage() }
                target = value
            default:
                if !argument.hasPrefix("-") {
                    paths.append(argument)
                } else if argument.hasPrefix("--verbose") {
                    verbose = true
                } else if argument.dropFirst().allSatisfy({ $0 == "d" || $0 == "v" || $0.isNumber }) {
                    if argument.contains("d") { display = true }
                    if argument.contains("v") { verbose = true }
                } else {
                    return usage()
                }
            }
        }
        guard display, !paths.isEmpty else { return usage() }
        return paths.map { show($0, entitlements: target, xml: xml, verbose: verbose) }.max() ?? 0
    }

    private static func usage() -> Int32 {
        StandardStreams.writeError(
            """
            Usage: codesign -d [--entitlements <path>|:-|-] [--xml] [-v] path ...
            This codesign shows the entitlements of bundles for simulated devices; it signs and verifies nothing.

            """
        )
        return 2
    }

    private static func show(_ path: String, entitlements target: String?, xml: Bool, verbose: Bool) -> Int32 {
        guard FileManager.default.fileExists(atPath: path) else {
            StandardStreams.writeError("\(path): No such file or directory\n")
            return 1
        }
        let bundle: ApplicationBundle
        do {
            bundle = try ApplicationBundle(path: URL(fileURLWithPath: path).standardizedFileURL.path)
        } catch {
            StandardStreams.writeError("\(path): bundle format unrecognized, invalid, or unsuitable\n")
            return 1
        }
        StandardStreams.writeError("Executable=\(bundle.executable)\n")
        if verbose {
            StandardStreams.writeError("Identifier=\(bundle.identifier)\nFormat=app bundle with ELF\n")
            StandardStreams.writeError("Signature=adhoc\nTeamIdentifier=not set\n")
        }
        guard let target else { return 0 }
        do {
            try write(ApplicationBundle.entitlements(bundle.path), to: target, xml: xml)
            return 0
        } catch {
            StandardStreams.writeError("warning: \(path): the entitlements cannot be shown: \(error)\n")
            return 1
        }
    }

    private static func write(_ entitlements: [String: Any]?, to target: String, xml: Bool) throws {
        let asPlist = xml || target.hasPrefix(":")
        if target.hasPrefix(":") {
            StandardStreams.writeError(
                "warning: Specifying ':' in the path is deprecated and will not work in a future release\n"
            )
        }
        // Nothing is written for a bundle without entitlements, and that is no error.
        guard let entitlements else { return }
        let text = asPlist ? EntitlementText.xml(entitlements) : EntitlementText.outline(entitlements)
        let path = target.hasPrefix(":") ? String(target.dropFirst()) : target
        if path == "-" {
            StandardStreams.writeOutput(text)
        } else {
            try DurableFile.replace(path, with: Array(text.utf8), mode: 0o644)
        }
    }
}
