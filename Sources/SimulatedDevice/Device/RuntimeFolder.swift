import BerthSystem
import Foundation

/// The folder that holds the runtimes of a host.
package struct RuntimeFolder: Sendable {
    package let path: String

    /// The folder that `BERTH_SIM_RUNTIMES` names, else the user's own.
    package init(environment: [String: String] = ProcessInfo.processInfo.environment) {
        if let named = environment["BERTH_SIM_RUNTIMES"], !named.isEmpty {
            path = URL(fileURLWithPath: named).path
        } else {
            path = "\(environment["HOME"] ?? NSHomeDirectory())/.local/share/berth-sim/runtimes"
        }
    }

    /// All runtimes, the oldest version first; makes the standard one if there is none.
    ///
    /// - Throws: `SimulatorError`, `SystemError`
    package func runtimes() throws -> [Runtime] {
        let known = installed()
        if !known.isEmpty { return known }
        try makeStandard()
        return installed()
    }

    /// The runtime of this identifier or name.
    ///
    /// - Throws: `SimulatorError` when there is none.
    func runtime(_ name: String) throws -> Runtime {
        guard let runtime = try runtimes().first(where: { $0.identifier == name || $0.name == name }) else {
            throw SimulatorError.missingRuntime(name)
        }
        return runtime
    }

    private func installed() -> [Runtime] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        let runtimes = names.filter { $0.hasSuffix(".simruntime") && !$0.hasPrefix(".") }.compactMap { name in
            do {
                return try Runtime(path: "\(path)/\(name)")
            } catch {
                Log(component: "simulator").error(
                    "A runtime's profile is unreadable",
                    ["path": "\(path)/\(name)", "error": "\(error)"]
                )
                return nil
            }
        }
        return runtimes.sorted { $0.version.compare($1.version, options: .numeric) == .orderedAscending }
    }

    /// The runtime is made aside and renamed, so it appears whole; of several callers at once the first one's stays.
    private func makeStandard() throws {
        let profile = Runtime.Profile.standard
        let partial = "\(path)/.partial-\(UUID().uuidString)"
        defer { FileTree.removeIfPresent(partial) }
        let libraries = "\(partial)/RuntimeRoot/usr/lib/swift"
        try DurableFile.makeFolder(libraries)
        for library in try SwiftLibraries.ofThisProcess() {
            try SwiftLibraries.place(library, in: libraries)
        }
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .xml
        try DurableFile.replace("\(partial)/profile.plist", with: Array(encoder.encode(profile)))
        do {
            try DurableFile.rename(partial, to: "\(path)/\(profile.name).simruntime")
        } catch let error as SystemError where error.code == EEXIST || error.code == ENOTEMPTY {
            return
        }
    }
}
