import BerthCore
import Foundation

/// What `berth-agent serve` was asked for.
package struct ServeOptions: Sendable {
    package let slot: String
    /// The slot's state folder.
    package let state: String
    /// Folder of the host's agents' sockets.
    package let sockets: String
    /// The host's blob cache, shared by its slots.
    package let cache: String
    /// Absolute path of `xcrun`.
    package let xcrun: String
    package let wish: SimulatorDriver.Wish
    /// How long a launch may take to write its status file.
    package let statusTimeout: Duration
    package let preservedLimit: Int

    private static let known = [
        "--slot", "--state", "--sockets", "--cache", "--kind", "--xcrun", "--device-type", "--runtime",
        "--status-timeout", "--preserved-limit",
    ]

    /// - Throws: `AgentFailure` of status `usage`
    package init(_ arguments: some Sequence<String>) throws {
        let arguments = try CommandArguments(arguments, known: Self.known)
        slot = try arguments.required("--slot")
        guard SlotName.isValid(slot) else {
            throw AgentFailure(
                .usage,
                "\(slot.debugDescription) is no slot name: letters, digits, dot, dash and underscore, at most 64"
            )
        }
        let kind = arguments.optional("--kind") ?? DeviceKind.simulator.rawValue
        guard kind == DeviceKind.simulator.rawValue else {
            throw AgentFailure(.usage, "--kind \(kind): this agent drives simulators only")
        }
        state = Self.absolute(try arguments.required("--state"))
        sockets = Self.absolute(try arguments.required("--sockets"))
        cache = Self.absolute(try arguments.required("--cache"))
        xcrun = Self.absolute(arguments.optional("--xcrun") ?? "/usr/bin/xcrun")
        wish = SimulatorDriver.Wish(
            deviceType: arguments.optional("--device-type"),
            runtime: arguments.optional("--runtime")
        )
        statusTimeout = .seconds(try arguments.number("--status-timeout", in: 1...3600, default: 60))
        preservedLimit = try arguments.number("--preserved-limit", in: 1...1000, default: 5)
    }

    /// Paths are kept absolute: a later change of folder must not move them.
    static func absolute(_ path: String) -> String {
        path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
    }
}
